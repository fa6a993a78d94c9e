package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Workload as the rules see it.
 *
 * @param object the whole object
 * @param isElastic whether its size may change while it runs
 */
record Workload(JsonNode object, boolean isElastic) {

  /** Before creation there is nothing. */
  static final Workload NONE = new Workload(MissingNode.getInstance(), false);

  boolean hasQuota() {
    return Json.isTrue(object, "QuotaReserved");
  }

  boolean hasAdmission() {
    return Json.isPresent(object, "status", "admission");
  }

  JsonNode status() {
    return Json.at(object, "status");
  }

  List<JsonNode> podSets() {
    return Json.list(object, "spec", "podSets");
  }

  /** Pod sets' counts by name. */
  Map<String, Long> counts() {
    Map<String, Long> counts = new LinkedHashMap<>();
    podSets().forEach(podSet -> counts.put(nameOf(podSet), Json.at(podSet, "count").asLong(1)));
    return counts;
  }

  /** Counts of pods whose share was given back, by pod set. */
  Map<String, Long> reclaimable() {
    Map<String, Long> counts = new LinkedHashMap<>();
    Json.list(status(), "reclaimablePods")
        .forEach(it -> counts.put(nameOf(it), Json.at(it, "count").asLong()));
    return counts;
  }

  /** The state of its admission checks by name. */
  Map<String, JsonNode> checks() {
    Map<String, JsonNode> checks = new LinkedHashMap<>();
    Json.list(status(), "admissionChecks").forEach(it -> checks.put(nameOf(it), it));
    return checks;
  }

  static String nameOf(JsonNode element) {
    String name = Json.text(element, "name");
    return name.isEmpty() ? "main" : name;
  }
}
