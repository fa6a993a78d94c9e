package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Warns the creator of a job about annotations without effect, because their feature is disabled or
 * not supported, and about misspelled queue labels.
 */
final class JobWarnings {

  private static final Map<String, FeatureGate> ON_JOB =
      Map.of(
          KueueConstants.ELASTIC_JOB, FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES,
          KueueConstants.ADMISSION_GATED_BY, FeatureGate.ADMISSION_GATED_BY,
          KueueConstants.JOB_MIN_PARALLELISM, FeatureGate.PARTIAL_ADMISSION);

  private static final List<String> ON_TEMPLATE =
      List.of(
          KueueConstants.PODSET_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_PREFERRED_TOPOLOGY,
          KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS,
          KueueConstants.PODSET_GROUP_NAME);

  private final WebhookSettings settings;

  JobWarnings(WebhookSettings settings) {
    this.settings = settings;
  }

  /**
   * One warning per annotation without effect, and per label that looks like the queue's; only at
   * creation.
   */
  List<String> of(AdmissionRequest request) {
    if (!request.isCreate()) {
      return List.of();
    }
    List<String> notices = new ArrayList<>(MisnamedQueueLabels.warnings(request.object()));
    JsonNode object = request.object();
    ON_JOB.forEach((key, gate) -> add(JsonFields.annotations(object), key, gate, notices));
    Map<String, String> template =
        JsonFields.annotations(JsonFields.at(object, "spec", "template"));
    for (String key : ON_TEMPLATE) {
      add(template, key, FeatureGate.TOPOLOGY_AWARE_SCHEDULING, notices);
    }
    return notices.stream().sorted().toList();
  }

  private void add(Map<String, String> given, String key, FeatureGate gate, List<String> notices) {
    if (given.containsKey(key) && !settings.working().contains(gate)) {
      notices.add(
          "annotation " + key + " has no effect: feature " + gate.text() + " is off or not there");
    }
  }
}
