package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.PodRoleHash;
import java.util.List;

/** Whatever decides where the pods of a template run: templates with equal ones are merged. */
final class SchedulingRequirements {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final String INIT = "initContainers";
  private static final String RESTART_POLICY = "restartPolicy";

  private SchedulingRequirements() {}

  /** The requirements of a pod's spec, which is left as it is. */
  static JsonNode of(JsonNode spec) {
    ObjectNode copy = spec instanceof ObjectNode object ? object.deepCopy() : JSON.objectNode();
    ObjectNode result = JSON.objectNode();
    ArrayNode restartPolicies = result.putArray(RESTART_POLICY);
    requestLimits(copy);
    for (String field : List.of("containers", INIT)) {
      for (JsonNode each : copy.path(field)) {
        if (each instanceof ObjectNode container) {
          requestLimits(container);
          retainHostPorts(container);
        }
      }
    }
    // one that keeps running adds its requests to those of the containers
    copy.path(INIT).forEach(it -> restartPolicies.add(it.path(RESTART_POLICY).asText("")));
    return result.set("shape", PodRoleHash.of(copy).hashed());
  }

  /** A limit is the request where the latter is absent, as for the API server. */
  private static void requestLimits(ObjectNode holder) {
    if (holder.path("resources") instanceof ObjectNode resources
        && resources.path("limits") instanceof ObjectNode limits) {
      ObjectNode requests =
          resources.path("requests") instanceof ObjectNode present
              ? present
              : resources.putObject("requests");
      limits
          .properties()
          .forEach(
              limit -> {
                if (!requests.hasNonNull(limit.getKey())) {
                  requests.set(limit.getKey(), limit.getValue());
                }
              });
    }
  }

  /** Other ports take none of the node's. */
  private static void retainHostPorts(ObjectNode container) {
    if (container.path("ports") instanceof ArrayNode ports) {
      ports.removeIf(it -> it.path("hostPort").asInt() <= 0);
    }
  }
}
