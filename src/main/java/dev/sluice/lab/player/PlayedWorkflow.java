package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.argo.Workflow;
import java.util.ArrayList;
import java.util.List;

/**
 * The workflow controller of Argo, for Workflows whose entrypoint has steps: the steps of a group
 * begin when all of the groups before have succeeded; a step is a pod, or a node that waits until
 * somebody writes that it has succeeded. While the Workflow is suspended, nothing begins, and pods
 * that run go on.
 *
 * <p>The real controller differs: it runs all sorts of templates, loops and conditions, adds
 * containers to pods, gives nodes other names, and repeats steps that failed. Here the first failed
 * step fails the Workflow.
 */
public final class PlayedWorkflow implements PlayedKind {

  private static final String RUNNING = "Running";
  private static final String SUCCEEDED = "Succeeded";
  private static final String FAILED = "Failed";

  @Override
  public JobKind kind() {
    return Workflow.KIND;
  }

  @Override
  public List<JobKind> childKinds() {
    return List.of(JobKind.of("", "v1", "Pod"));
  }

  @Override
  public boolean hasStatusSubresource() {
    return false;
  }

  private static JsonNode template(JsonNode object, String name) {
    return JsonFields.list(object, "spec", "templates").stream()
        .filter(template -> template.path("name").asText().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no template " + name));
  }

  private static String node(JsonNode object, JsonNode step) {
    return object.path("metadata").path("name").asText() + "-" + step.path("name").asText();
  }

  private static JsonNode seen(JsonNode object, JsonNode step) {
    return object.path("status").path("nodes").path(node(object, step));
  }

  private static boolean isPod(JsonNode template) {
    return template.has("container");
  }

  /** The steps that have begun, or may begin now. */
  private static List<JsonNode> reached(JsonNode object) {
    boolean suspended = object.path("spec").path("suspend").asBoolean();
    List<JsonNode> reached = new ArrayList<>();
    JsonNode entry = template(object, object.path("spec").path("entrypoint").asText());
    for (JsonNode group : entry.path("steps")) {
      boolean done = true;
      for (JsonNode step : group) {
        if (!suspended || seen(object, step).isObject()) {
          reached.add(step);
        }
        done &= seen(object, step).path("phase").asText().equals(SUCCEEDED);
      }
      if (!done) {
        break;
      }
    }
    return reached;
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    List<ObjectNode> pods = new ArrayList<>();
    for (JsonNode step : reached(object)) {
      JsonNode template = template(object, step.path("template").asText());
      if (isPod(template)) {
        pods.add(pod(object, step, template));
      }
    }
    return pods;
  }

  private static ObjectNode pod(JsonNode object, JsonNode step, JsonNode template) {
    JsonNode workflow = object.path("spec");
    ObjectNode pod = JsonNodeFactory.instance.objectNode().put("apiVersion", "v1");
    pod.put("kind", "Pod");
    ObjectNode metadata = JsonFields.object(workflow.path("podMetadata")).deepCopy();
    metadata.setAll(JsonFields.object(template.path("metadata")).deepCopy());
    pod.set("metadata", metadata.put("name", node(object, step)));
    metadata
        .withObjectProperty("labels")
        .put("workflows.argoproj.io/workflow", object.path("metadata").path("name").asText());
    ObjectNode spec = pod.putObject("spec").put("restartPolicy", "Never");
    for (String field : List.of("nodeSelector", "tolerations")) {
      if (workflow.has(field)) {
        spec.set(field, workflow.get(field));
      }
    }
    ObjectNode container = spec.putArray("containers").addObject().put("name", "main");
    container.setAll((ObjectNode) template.get("container").deepCopy());
    return pod;
  }

  @Override
  public ObjectNode status(JsonNode object, List<ObjectNode> children) {
    ObjectNode status = JsonFields.object(object.path("status")).deepCopy();
    String phase = status.path("phase").asText();
    if (phase.equals(SUCCEEDED) || phase.equals(FAILED)) {
      return status;
    }
    ObjectNode nodes = status.withObjectProperty("nodes");
    for (JsonNode step : reached(object)) {
      ObjectNode node = nodes.withObjectProperty(node(object, step));
      String template = step.path("template").asText();
      node.put("id", node(object, step)).put("displayName", step.path("name").asText());
      node.put("templateName", template);
      if (isPod(template(object, template))) {
        node.put("type", "Pod").put("phase", phase(node(object, step), children));
      } else if (!node.has("phase")) {
        node.put("type", "Suspend").put("phase", RUNNING);
      }
    }
    List<String> phases = nodes.findValuesAsText("phase");
    JsonNode entry = template(object, object.path("spec").path("entrypoint").asText());
    int steps = 0;
    for (JsonNode group : entry.path("steps")) {
      steps += group.size();
    }
    boolean all = phases.size() == steps && phases.stream().allMatch(SUCCEEDED::equals);
    String end = all ? SUCCEEDED : RUNNING;
    status.put("phase", phases.contains(FAILED) ? FAILED : end);
    return status;
  }

  private static String phase(String pod, List<ObjectNode> children) {
    return children.stream()
        .filter(child -> child.path("metadata").path("name").asText().equals(pod))
        .map(child -> child.path("status").path("phase").asText("Pending"))
        .findFirst()
        .orElse("Pending");
  }
}
