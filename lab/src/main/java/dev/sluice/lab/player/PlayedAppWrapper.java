package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.appwrapper.AppWrapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The controller of AppWrappers: creates the components that are Jobs, ReplicaSets and Pods while
 * the AppWrapper is not suspended, with what {@code podSetInfos} says merged into their templates,
 * and deletes them when it is suspended or has failed.
 *
 * <p>The real controller differs: it creates components of any kind, resets an AppWrapper that is
 * unhealthy before it fails it, and labels all pods; its webhook refuses changes of components.
 * Here the first component that fails fails the AppWrapper; a component has one pod set; and a Job
 * is suspended before it is deleted, so that its pods are gone when quota is given back, where the
 * real controller counts the pods.
 */
public final class PlayedAppWrapper implements PlayedKind {

  private static final String JOB = "Job";

  /** Where the kinds of components have their pod template. */
  private static final Map<String, List<String>> TEMPLATES =
      Map.of(
          JOB,
          List.of("template", "spec", "template"),
          "ReplicaSet",
          List.of("template", "spec", "template"),
          "Pod",
          List.of("template"));

  @Override
  public JobKind kind() {
    return AppWrapper.KIND;
  }

  @Override
  public List<JobKind> childKinds() {
    return List.of(
        JobKind.of("batch", "v1", JOB),
        JobKind.of("apps", "v1", "ReplicaSet"),
        JobKind.of("", "v1", "Pod"));
  }

  private static boolean isStopping(JsonNode object) {
    return object.path("spec").path("suspend").asBoolean() || phase(object).equals("Failed");
  }

  private static String phase(JsonNode object) {
    return object.path("status").path("phase").asText();
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    boolean stopping = isStopping(object);
    List<ObjectNode> children = new ArrayList<>();
    for (JsonNode component : JsonFields.list(object, "spec", "components")) {
      String kind = component.path("template").path("kind").asText();
      boolean wanted =
          !stopping || (kind.equals(JOB) && JobConditions.isTrue(object, "QuotaReserved"));
      if (wanted && TEMPLATES.containsKey(kind)) {
        children.add(child(component, kind, stopping));
      }
    }
    return children;
  }

  private static ObjectNode child(JsonNode component, String kind, boolean suspended) {
    ObjectNode copy = component.deepCopy();
    ObjectNode template = copy;
    for (String field : TEMPLATES.getOrDefault(kind, List.of())) {
      template = template.withObjectProperty(field);
    }
    merge(template, component.path("podSetInfos").path(0));
    ObjectNode child = copy.withObjectProperty("template");
    if (kind.equals(JOB)) {
      child.withObjectProperty("spec").put("suspend", suspended);
    }
    return child;
  }

  private static void merge(ObjectNode template, JsonNode info) {
    for (String field : List.of("labels", "annotations")) {
      setAll(template.withObjectProperty("metadata"), field, info);
    }
    ObjectNode spec = template.withObjectProperty("spec");
    setAll(spec, "nodeSelector", info);
    for (String field : List.of("tolerations", "schedulingGates")) {
      for (JsonNode added : info.path(field)) {
        spec.withArrayProperty(field).add(added.deepCopy());
      }
    }
  }

  private static void setAll(ObjectNode parent, String field, JsonNode info) {
    if (info.path(field) instanceof ObjectNode given && !given.isEmpty()) {
      parent.withObjectProperty(field).setAll(given);
    }
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    boolean busy = children.stream().anyMatch(PlayedAppWrapper::mayHavePods);
    String phase = nextPhase(object, children, busy);
    boolean running = List.of("Resuming", "Running", "Suspending").contains(phase);
    ObjectNode status = JsonNodeFactory.instance.objectNode().put("phase", phase);
    ArrayNode conditions = status.putArray("conditions");
    condition(conditions, "QuotaReserved", running || (phase.equals("Failed") && busy));
    condition(conditions, "ResourcesDeployed", running || !children.isEmpty());
    condition(
        conditions,
        "PodsReady",
        children.size() == components(object)
            && children.stream().allMatch(it -> isReady(it) || hasSucceeded(it)));
    return status;
  }

  private static int components(JsonNode object) {
    return JsonFields.list(object, "spec", "components").size();
  }

  private static String nextPhase(JsonNode object, List<ObjectNode> children, boolean busy) {
    String phase = phase(object);
    if (phase.equals("Succeeded") || phase.equals("Failed")) {
      return phase;
    }
    if (object.path("spec").path("suspend").asBoolean()) {
      return busy ? "Suspending" : "Suspended";
    }
    if (children.stream().anyMatch(PlayedAppWrapper::hasFailed)) {
      return "Failed";
    }
    boolean all = children.size() == components(object);
    if (all && children.stream().allMatch(PlayedAppWrapper::hasSucceeded)) {
      return "Succeeded";
    }
    return all ? "Running" : "Resuming";
  }

  private static void condition(ArrayNode conditions, String type, boolean status) {
    conditions
        .addObject()
        .put("type", type)
        .put("status", status ? "True" : "False")
        .put("reason", type)
        .put("message", "");
  }

  private static boolean isJob(JsonNode child) {
    return child.path("kind").asText().equals(JOB);
  }

  /** A Job that ended has none any more; a suspended one once its controller says so. */
  private static boolean mayHavePods(JsonNode child) {
    if (!isJob(child)) {
      return true;
    }
    JsonNode status = child.path("status");
    boolean stopped =
        JobConditions.isTrue(child, "Suspended") || hasSucceeded(child) || hasFailed(child);
    return !stopped || status.path("active").asInt() + status.path("terminating").asInt() > 0;
  }

  private static boolean hasSucceeded(JsonNode child) {
    return isJob(child)
        ? JobConditions.isTrue(child, "Complete")
        : phase(child).equals("Succeeded");
  }

  private static boolean hasFailed(JsonNode child) {
    return isJob(child) ? JobConditions.isTrue(child, "Failed") : phase(child).equals("Failed");
  }

  private static boolean isReady(JsonNode child) {
    if (!isJob(child)) {
      return JobConditions.isTrue(child, "Ready");
    }
    JsonNode status = child.path("status");
    int parallelism = child.path("spec").path("parallelism").asInt(1);
    int pods = Math.min(parallelism, child.path("spec").path("completions").asInt(parallelism));
    return status.path("ready").asInt() + status.path("succeeded").asInt() >= pods;
  }
}
