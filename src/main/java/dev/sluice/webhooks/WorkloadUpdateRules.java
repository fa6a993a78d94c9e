package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;
import dev.sluice.api.config.FeatureGate;
import java.util.List;
import java.util.Map;

/** What may not change in a Workload, and when. */
final class WorkloadUpdateRules {

  private static final FieldPath STATUS = FieldPath.of("status");
  private static final FieldPath POD_SETS = FieldPath.of("spec", "podSets");

  private final WebhookSettings settings;

  WorkloadUpdateRules(WebhookSettings settings) {
    this.settings = settings;
  }

  void check(Workload now, Workload before, Complaints bad) {
    if (before.hasQuota()) {
      podSets(now, before, bad);
    }
    if (before.hasQuota() && now.hasQuota()) {
      reclaimable(now, before, bad);
    }
    admission(now, before, bad);
    checks(now, before, bad);
    clusterName(now, before, bad);
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      GatedByRules.change(Json.annotations(before.object()), Json.annotations(now.object()), bad);
    }
  }

  private static void podSets(Workload now, Workload before, Complaints bad) {
    List<JsonNode> is = now.podSets();
    List<JsonNode> was = before.podSets();
    if (is.equals(was)) {
      return;
    }
    if (!now.isElastic() || is.size() != was.size()) {
      bad.immutable(POD_SETS, Json.at(now.object(), "spec", "podSets"), "while quota is reserved");
      return;
    }
    for (int i = 0; i < is.size(); i++) {
      FieldPath path = POD_SETS.index(i);
      if (!without(is.get(i), "count").equals(without(was.get(i), "count"))) {
        bad.immutable(path, is.get(i), "while quota is reserved, except for a lower count");
      } else if (Json.at(is.get(i), "count").asLong(1) > Json.at(was.get(i), "count").asLong(1)) {
        bad.invalid(
            path.child("count"),
            Json.at(is.get(i), "count"),
            "may only be lowered while quota is reserved, from "
                + Json.at(was.get(i), "count").asLong(1));
      }
    }
  }

  private static void reclaimable(Workload now, Workload before, Complaints bad) {
    Map<String, Long> is = now.reclaimable();
    Map<String, Long> counts = now.counts();
    before
        .reclaimable()
        .forEach(
            (name, was) -> {
              long count = is.getOrDefault(name, 0L);
              boolean scaledDown =
                  now.isElastic()
                      && counts.getOrDefault(name, 0L) < before.counts().getOrDefault(name, 0L);
              boolean gone = !is.containsKey(name);
              if ((count < was || gone) && !scaledDown) {
                bad.invalid(
                    STATUS.child("reclaimablePods").key(name).child("count"),
                    Json.at(now.status(), "reclaimablePods"),
                    "cannot be less than " + was + " while quota is reserved");
              }
            });
  }

  private static void admission(Workload now, Workload before, Complaints bad) {
    JsonNode is = Json.at(now.status(), "admission");
    JsonNode was = Json.at(before.status(), "admission");
    if (!is.isMissingNode()
        && !was.isMissingNode()
        && !withoutTopology(is).equals(withoutTopology(was))) {
      bad.immutable(STATUS.child("admission"), is, "once set, it can only be taken away");
    }
  }

  private static JsonNode withoutTopology(JsonNode admission) {
    JsonNode copy = admission.deepCopy();
    for (JsonNode assignment : Json.list(copy, "podSetAssignments")) {
      if (assignment instanceof ObjectNode fields) {
        fields.remove(List.of("topologyAssignment", "delayedTopologyRequest"));
      }
    }
    return copy;
  }

  private static JsonNode without(JsonNode node, String field) {
    JsonNode copy = node.deepCopy();
    if (copy instanceof ObjectNode fields) {
      fields.remove(field);
    }
    return copy;
  }

  private static void checks(Workload now, Workload before, Complaints bad) {
    Map<String, JsonNode> was = before.checks();
    List<JsonNode> checks = Json.list(now.status(), "admissionChecks");
    for (int i = 0; i < checks.size(); i++) {
      JsonNode old = was.get(Workload.nameOf(checks.get(i)));
      if (old != null
          && Json.text(old, "state").equals("Ready")
          && Json.text(checks.get(i), "state").equals("Ready")
          && !Json.at(old, "podSetUpdates").equals(Json.at(checks.get(i), "podSetUpdates"))) {
        bad.immutable(
            STATUS.child("admissionChecks").index(i).child("podSetUpdates"),
            Json.at(checks.get(i), "podSetUpdates"),
            "while the check is Ready");
      }
    }
  }

  private static void clusterName(Workload now, Workload before, Complaints bad) {
    String is = Json.text(now.status(), "clusterName");
    boolean isNew = !is.isEmpty() && Json.text(before.status(), "clusterName").isEmpty();
    List<String> nominated = Json.texts(before.status(), "nominatedClusterNames");
    boolean replacesSlice =
        Json.annotations(now.object()).containsKey(Keys.WORKLOAD_SLICE_REPLACEMENT_FOR);
    if (isNew && !nominated.contains(is) && !replacesSlice) {
      bad.notSupported(STATUS.child("clusterName"), is, nominated);
    }
  }
}
