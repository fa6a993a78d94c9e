package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.json.JsonFields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Workload under review.
 *
 * @param object the whole object
 * @param isElastic whether its size may change while it runs
 */
record WorkloadReview(JsonNode object, boolean isElastic) {

  /** The missing old object of a creation. */
  static final WorkloadReview NONE = new WorkloadReview(MissingNode.getInstance(), false);

  boolean hasQuota() {
    return JsonFields.isTrue(object, "QuotaReserved");
  }

  boolean hasAdmission() {
    return JsonFields.isPresent(object, "status", "admission");
  }

  JsonNode status() {
    return JsonFields.at(object, "status");
  }

  List<JsonNode> podSets() {
    return JsonFields.list(object, "spec", "podSets");
  }

  /** Pod counts by pod set. */
  Map<String, Long> counts() {
    Map<String, Long> counts = new LinkedHashMap<>();
    podSets()
        .forEach(podSet -> counts.put(nameOf(podSet), JsonFields.at(podSet, "count").asLong(1)));
    return counts;
  }

  /** Pod counts that quota was reserved for, by pod set. */
  Map<String, Long> admittedCounts() {
    Map<String, Long> counts = new LinkedHashMap<>();
    JsonFields.list(JsonFields.at(status(), "admission"), "podSetAssignments")
        .forEach(it -> counts.put(nameOf(it), JsonFields.at(it, "count").asLong()));
    return counts;
  }

  /** Counts of reclaimable pods, by pod set. */
  Map<String, Long> reclaimable() {
    Map<String, Long> counts = new LinkedHashMap<>();
    JsonFields.list(status(), "reclaimablePods")
        .forEach(it -> counts.put(nameOf(it), JsonFields.at(it, "count").asLong()));
    return counts;
  }

  /** The states of the admission checks, by name. */
  Map<String, JsonNode> checks() {
    Map<String, JsonNode> checks = new LinkedHashMap<>();
    JsonFields.list(status(), "admissionChecks").forEach(it -> checks.put(nameOf(it), it));
    return checks;
  }

  static String nameOf(JsonNode element) {
    String name = JsonFields.text(element, "name");
    return name.isEmpty() ? "main" : name;
  }
}
