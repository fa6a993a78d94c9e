package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compares planned objects with those that exist. */
final class PlanDifference {

  /** Fields of which nothing but what is planned may be there. */
  private static final List<String> EXACT =
      List.of("resourceGroups", "namespaceSelector", "cohortName", "parentName");

  private PlanDifference() {}

  /** Whether an object isn't as planned. */
  static boolean differs(PlannedObject planned, ExistingObject existing) {
    JsonNode annotations = JsonMappers.JSON.valueToTree(existing.annotations());
    return differs(planned, annotations, existing.spec());
  }

  /** The same for an object with these annotations and this spec. */
  static boolean differs(PlannedObject planned, JsonNode annotations, JsonNode spec) {
    for (String key : QueueManifests.ANNOTATIONS) {
      String wanted = planned.annotations().getOrDefault(key, "");
      if (!wanted.equals(annotations.path(key).asText())) {
        return true;
      }
    }
    for (String field : EXACT) {
      if (!same(planned.spec().path(field), spec.path(field))) {
        return true;
      }
    }
    for (var field : planned.spec().properties()) {
      if (!EXACT.contains(field.getKey())
          && !contains(spec.path(field.getKey()), field.getValue())) {
        return true;
      }
    }
    return false;
  }

  private static boolean same(JsonNode one, JsonNode other) {
    boolean nothing = isNothing(one);
    return nothing ? isNothing(other) : one.equals(other);
  }

  private static boolean isNothing(JsonNode node) {
    return node.isMissingNode() || node.isNull() || (node.isArray() && node.isEmpty());
  }

  /** Lists of objects that others add to, too, contain what is planned in any order. */
  private static boolean contains(JsonNode whole, JsonNode part) {
    if (part.isArray() && part.valueStream().allMatch(JsonNode::isObject)) {
      return part.valueStream()
          .allMatch(wanted -> whole.valueStream().anyMatch(it -> contains(it, wanted)));
    }
    if (!part.isObject()) {
      return whole.equals(part);
    }
    for (var field : part.properties()) {
      if (!contains(whole.path(field.getKey()), field.getValue())) {
        return false;
      }
    }
    return true;
  }

  /** A merge patch that removes what applying leaves because others wrote it. */
  static ObjectNode patch(PlannedObject planned) {
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    ObjectNode annotations = patch.putObject("metadata").putObject("annotations");
    for (String key : QueueManifests.ANNOTATIONS) {
      annotations.put(key, planned.annotations().get(key));
    }
    ObjectNode spec = patch.putObject("spec");
    for (String field : EXACT) {
      spec.set(field, planned.spec().get(field));
    }
    if (spec.get("namespaceSelector") instanceof ObjectNode selector) {
      ObjectNode whole = JsonMappers.JSON.createObjectNode();
      whole.putNull("matchLabels");
      whole.set("matchExpressions", selector.get("matchExpressions"));
      spec.set("namespaceSelector", whole);
    }
    return patch;
  }

  /** Whether writing the object takes quota of some resource away. */
  static boolean reduces(PlannedObject planned, ExistingObject existing) {
    Map<String, Long> before = nominal(existing.spec());
    Map<String, Long> after = nominal(planned.spec());
    boolean less = false;
    for (var each : before.entrySet()) {
      long now = after.getOrDefault(each.getKey(), 0L);
      less |= now < each.getValue();
    }
    return less;
  }

  /** The planned object with no more of any resource than the existing one has. */
  static PlannedObject reduced(PlannedObject planned, ExistingObject existing) {
    Map<String, Long> before = nominal(existing.spec());
    ObjectNode spec = planned.spec().deepCopy();
    for (JsonNode group : spec.path("resourceGroups")) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode each : flavor.path("resources")) {
          String resource = each.path("name").asText();
          long had = before.getOrDefault(resource, 0L);
          if (each instanceof ObjectNode quota && nominal(spec).getOrDefault(resource, 0L) > had) {
            quota.put("nominalQuota", Quantities.format(resource, had));
            // a queue can't lend more than it has
            quota.remove(planned.id().kind() == ObjectKind.CLUSTER_QUEUE ? "lendingLimit" : "");
          }
        }
      }
    }
    return new PlannedObject(planned.id(), planned.annotations(), spec);
  }

  private static Map<String, Long> nominal(JsonNode spec) {
    Map<String, Long> result = new HashMap<>();
    for (JsonNode group : spec.path("resourceGroups")) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode quota : flavor.path("resources")) {
          String resource = quota.path("name").asText();
          try {
            result.put(resource, Quantities.amount(resource, quota.path("nominalQuota").asText()));
          } catch (IllegalArgumentException e) {
            result.put(resource, 0L);
          }
        }
      }
    }
    return result;
  }
}
