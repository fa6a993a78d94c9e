package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kinds.spark.SparkApplication;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The Spark operator and Spark itself: a pod for the driver, and, once that runs, a pod for each
 * executor, which the driver controls. There are none while the application is suspended; when the
 * driver has ended, the executors are deleted, and the application ends as the driver did.
 *
 * <p>The real ones differ: the operator runs spark-submit, which creates the driver's pod, adds
 * containers, volumes, services and environment variables, and submits an application again
 * according to its restart policy or when its spec has changed; executors have the driver's pod as
 * their only owner, and Spark replaces those that fail.
 */
public final class PlayedSparkApplication implements PlayedKind {

  private static final String ROLE = "spark-role";
  private static final String DRIVER = "driver";
  private static final String EXECUTOR = "executor";
  private static final Map<String, String> EXECUTOR_STATES =
      Map.of(
          "Pending", "PENDING", "Running", "RUNNING", "Succeeded", "COMPLETED", "Failed", "FAILED");

  private final SparkApplication integration = new SparkApplication();

  @Override
  public JobKind kind() {
    return SparkApplication.KIND;
  }

  @Override
  public List<JobKind> childKinds() {
    return List.of(JobKind.of("", "v1", "Pod"));
  }

  private static String name(JsonNode object) {
    return object.path("metadata").path("name").asText();
  }

  private static String state(JsonNode object) {
    return JsonFields.text(object, "status", "applicationState", "state");
  }

  private static boolean isSuspended(JsonNode object) {
    return object.path("spec").path("suspend").asBoolean();
  }

  private static boolean hasEnded(JsonNode object) {
    return state(object).equals("COMPLETED") || state(object).equals("FAILED");
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    List<ObjectNode> children = new ArrayList<>();
    if (isSuspended(object) && !hasEnded(object)) {
      return children;
    }
    PodSetTemplate driver = integration.podSets(object).getFirst();
    PodSetTemplate executors = integration.podSets(object).getLast();
    children.add(pod(object, driver, name(object) + "-driver"));
    if (state(object).equals("RUNNING")) {
      for (int i = 1; i <= executors(object); i++) {
        children.add(pod(object, executors, name(object) + "-exec-" + i));
      }
    }
    return children;
  }

  /** Of a field and a property that say the same, Spark takes the field. */
  private static String said(JsonNode object, String role, String field, String otherwise) {
    String said = JsonFields.at(object, "spec", role, field).asText();
    return said.isEmpty()
        ? JsonFields.at(object, "spec", "sparkConf", "spark." + role + "." + field)
            .asText(otherwise)
        : said;
  }

  /** Not as the integration counts them: what it overlooks has to run all the same. */
  private static int executors(JsonNode object) {
    return Integer.parseInt(said(object, EXECUTOR, "instances", "2"));
  }

  private static ObjectNode pod(JsonNode object, PodSetTemplate role, String name) {
    ObjectNode pod = role.template().deepCopy().put("apiVersion", "v1").put("kind", "Pod");
    pod.withObjectProperty("metadata")
        .put("name", name)
        .withObjectProperty("labels")
        .put("sparkoperator.k8s.io/app-name", name(object))
        .put("sparkoperator.k8s.io/launched-by-spark-operator", "true")
        .put(ROLE, role.name());
    pod.withObjectProperty("spec").put("restartPolicy", "Never");
    String memory = said(object, role.name(), "memory", "");
    if (memory.endsWith("g")) {
      // without the overhead: no less than what is said
      pod.withObject("/spec/containers/0/resources/requests")
          .put("memory", memory.replace("g", "Gi"));
    }
    return pod;
  }

  @Override
  public Optional<String> creator(JsonNode object, ObjectNode child) {
    return hasRole(child, EXECUTOR) ? Optional.of(name(object) + "-driver") : Optional.empty();
  }

  private static boolean hasRole(JsonNode child, String role) {
    return role.equals(JsonFields.labels(child).get(ROLE));
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    if (hasEnded(object) && object.path("status") instanceof ObjectNode last) {
      return last;
    }
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ObjectNode application = status.putObject("applicationState");
    ObjectNode executors = status.putObject("executorState");
    children.stream()
        .filter(child -> hasRole(child, EXECUTOR))
        .forEach(
            child -> executors.put(name(child), EXECUTOR_STATES.getOrDefault(phase(child), "")));
    if (isSuspended(object)) {
      application.put("state", children.isEmpty() ? "SUSPENDED" : "SUSPENDING");
      return status;
    }
    String driver =
        children.stream()
            .filter(child -> hasRole(child, DRIVER))
            .filter(child -> !child.path("metadata").has("deletionTimestamp"))
            .map(PlayedSparkApplication::phase)
            .findFirst()
            .orElse("");
    boolean cleared = executors.isEmpty();
    switch (driver) {
      case "Running" -> application.put("state", "RUNNING");
      case "Succeeded" -> application.put("state", cleared ? "COMPLETED" : "SUCCEEDING");
      case "Failed" ->
          application
              .put("state", cleared ? "FAILED" : "FAILING")
              .put("errorMessage", "driver container failed with ExitCode: 1, Reason: Error");
      default -> application.put("state", "SUBMITTED");
    }
    return status;
  }

  private static String phase(JsonNode pod) {
    return pod.path("status").path("phase").asText();
  }
}
