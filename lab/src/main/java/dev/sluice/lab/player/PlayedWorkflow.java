package dev.sluice.lab.player;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.argo.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The workflow controller of Argo, for Workflows whose entrypoint has steps: the steps of a group
 * begin when all of the groups before have succeeded; a step is a pod, or a node that waits until
 * somebody writes that it has succeeded. While the Workflow is suspended, nothing begins, and pods
 * that run go on. A step whose template is a daemon is over when its pod runs. After all steps
 * comes the template of {@code onExit}. Pods have what defaults of templates and patches of pod
 * specs add.
 *
 * <p>The real controller differs: it runs all sorts of templates, loops and conditions, adds
 * containers to pods, gives nodes other names, repeats steps that failed, and ends daemons. Here
 * the first failed step fails the Workflow.
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

  /** With the defaults of templates, if it runs a pod. */
  private static JsonNode template(JsonNode object, String name) {
    JsonNode own =
        JsonFields.list(object, "spec", "templates").stream()
            .filter(template -> template.path("name").asText().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no template " + name));
    if (!isPod(own)) {
      return own;
    }
    ObjectNode whole = JsonFields.object(object.at("/spec/templateDefaults")).deepCopy();
    merge(whole, own);
    return whole;
  }

  /** Merges as strategic patches of pods do: elements of lists are known by their names. */
  private static void merge(ObjectNode into, JsonNode patch) {
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      JsonNode value = field.getValue();
      if (value.isObject()) {
        merge(into.withObjectProperty(field.getKey()), value);
      } else if (value.path(0).has("name")) {
        ArrayNode list = into.withArrayProperty(field.getKey());
        for (JsonNode each : value) {
          ObjectNode namesake = JsonFields.named(list, each.path("name").asText());
          merge(namesake.isEmpty() ? list.addObject() : namesake, each);
        }
      } else {
        into.set(field.getKey(), value.deepCopy());
      }
    }
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
    int left = entry.path("steps").size();
    for (JsonNode group : entry.path("steps")) {
      boolean done = true;
      for (JsonNode step : group) {
        reached.add(step);
        done &= isOver(object, step);
      }
      if (!done) {
        break;
      }
      left--;
    }
    if (left == 0) {
      reached.addAll(exit(object));
    }
    reached.removeIf(step -> suspended && !seen(object, step).has("phase"));
    return reached;
  }

  @Override
  public boolean creates(JsonNode object) {
    String phase = object.path("status").path("phase").asText();
    return !phase.equals(SUCCEEDED) && !phase.equals(FAILED);
  }

  private static boolean isOver(JsonNode object, JsonNode step) {
    String phase = seen(object, step).path("phase").asText();
    boolean daemon = template(object, step.path("template").asText()).path("daemon").asBoolean();
    return phase.equals(SUCCEEDED) || (daemon && phase.equals(RUNNING));
  }

  /** What runs after all steps, as a step. */
  private static List<JsonNode> exit(JsonNode object) {
    String template = object.path("spec").path("onExit").asText();
    return template.isEmpty()
        ? List.of()
        : List.of(
            JsonNodeFactory.instance.objectNode().put("name", "onExit").put("template", template));
  }

  @Override
  public List<ObjectNode> children(JsonNode object) {
    List<ObjectNode> pods = new ArrayList<>();
    for (JsonNode step : reached(object)) {
      JsonNode template = template(object, step.path("template").asText());
      if (isPod(template) && !seen(object, step).path("phase").asText().equals(FAILED)) {
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
    ArrayNode containers = spec.putArray("containers");
    ObjectNode container = containers.addObject().put("name", "main");
    container.setAll((ObjectNode) template.get("container").deepCopy());
    template.path("sidecars").forEach(containers::add);
    JsonFields.setUnlessEmpty(spec, "initContainers", template.path("initContainers"));
    patch(spec, workflow, workflow);
    patch(spec, template, workflow);
    return pod;
  }

  private static void patch(ObjectNode pod, JsonNode holder, JsonNode workflow) {
    String patch = holder.path("podSpecPatch").asText();
    for (JsonNode parameter : JsonFields.list(workflow, "arguments", "parameters")) {
      patch =
          patch.replace(
              "{{workflow.parameters." + parameter.path("name").asText() + "}}",
              parameter.path("value").asText());
    }
    try {
      merge(pod, JsonMappers.YAML.readTree(patch));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
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
        node.put("type", "Pod");
        String now = phase(object, step, children);
        if (!now.isEmpty()) {
          node.put("phase", now);
        }
      } else if (!node.has("phase")) {
        node.put("type", "Suspend").put("phase", RUNNING);
      }
    }
    List<String> phases = nodes.findValuesAsText("phase");
    JsonNode entry = template(object, object.path("spec").path("entrypoint").asText());
    int steps = exit(object).size();
    for (JsonNode group : entry.path("steps")) {
      steps += group.size();
    }
    boolean all = phases.size() == steps && phases.stream().allMatch(SUCCEEDED::equals);
    String end = all ? SUCCEEDED : RUNNING;
    status.put("phase", phases.contains(FAILED) ? FAILED : end);
    return status;
  }

  /** The phase of the step's pod; of one that was there and is gone, that it has failed. */
  private static String phase(JsonNode object, JsonNode step, List<ObjectNode> children) {
    String before = seen(object, step).path("phase").asText();
    return children.stream()
        .filter(child -> child.path("metadata").path("name").asText().equals(node(object, step)))
        .map(child -> child.path("status").path("phase").asText("Pending"))
        .findFirst()
        .orElse(before.isEmpty() || before.equals(SUCCEEDED) ? before : FAILED);
  }
}
