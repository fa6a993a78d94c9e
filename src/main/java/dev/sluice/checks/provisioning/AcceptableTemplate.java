package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Makes a Workload's template one that the API server accepts in a PodTemplate
 * (docs/provisioning.md#what-is-created). Templates of Workloads may lack what the job's controller
 * adds to its pods: images of sidecars, or the volumes of claim templates. None of it decides where
 * pods may run.
 */
final class AcceptableTemplate {

  /** Nobody pulls it. */
  static final String IMAGE = "sluice.dev/unknown";

  private static final String MAIN = "containers";
  private static final String RESTART_POLICY = "restartPolicy";

  private AcceptableTemplate() {}

  /** Changes a template. */
  static void complete(ObjectNode template) {
    ObjectNode spec = template.withObjectProperty("spec");
    spec.remove("ephemeralContainers");
    if (spec.path(MAIN).isEmpty()) {
      spec.set(
          MAIN, JsonNodeFactory.instance.arrayNode().add(JsonNodeFactory.instance.objectNode()));
    }
    Set<String> volumes = new HashSet<>();
    spec.path("volumes").forEach(volume -> volumes.add(volume.path("name").asText()));
    for (String list : List.of(MAIN, "initContainers")) {
      int number = 0;
      for (JsonNode each : spec.path(list)) {
        number++;
        if (each instanceof ObjectNode container) {
          replaceIfEmpty(container, "name", list.equals(MAIN) ? "c" + number : "i" + number);
          replaceIfEmpty(container, "image", IMAGE);
          retain(container, "volumeMounts", volumes);
          retain(container, "volumeDevices", volumes);
          if (list.equals(MAIN)) {
            container.remove(List.of(RESTART_POLICY, "restartPolicyRules"));
          }
        }
      }
    }
  }

  private static void replaceIfEmpty(ObjectNode container, String field, String value) {
    if (container.path(field).asText("").isEmpty()) {
      container.put(field, value);
    }
  }

  private static void retain(ObjectNode container, String field, Set<String> volumes) {
    if (container.path(field) instanceof ArrayNode list) {
      list.removeIf(it -> !volumes.contains(it.path("name").asText()));
      if (list.isEmpty()) {
        container.remove(field);
      }
    }
  }
}
