package dev.sluice.api.config;

import dev.sluice.api.config.Configuration.AdmissionFairSharing;
import dev.sluice.api.config.Configuration.FairSharing;
import dev.sluice.api.config.Configuration.ObjectRetention;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.Resources.Transformation;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** The blocks of the configuration in effect that say how workloads are dealt with. */
final class EffectiveCapabilities {

  private EffectiveCapabilities() {}

  /** Readiness, retention, resources and sharing, as far as they are given or have defaults. */
  static Map<String, Object> of(Configuration c) {
    Map<String, Object> tree = new LinkedHashMap<>();
    c.waitForPodsReady().ifPresent(given -> tree.put("waitForPodsReady", readiness(given)));
    Map<String, Object> retention = retention(c.objectRetention());
    if (!retention.isEmpty()) {
      tree.put("objectRetentionPolicies", Map.of("workloads", retention));
    }
    tree.put("resources", resources(c.resources()));
    c.fairSharing().ifPresent(given -> tree.put("fairSharing", fairSharing(given)));
    c.admissionFairSharing()
        .ifPresent(given -> tree.put("admissionFairSharing", admissionFairSharing(given)));
    return tree;
  }

  private static Map<String, Object> fairSharing(FairSharing given) {
    return Map.of(
        "preemptionStrategies",
        given.preemptionStrategies().stream()
            .map(
                strategy ->
                    switch (strategy) {
                      case LESS_THAN_OR_EQUAL_TO_FINAL_SHARE -> "LessThanOrEqualToFinalShare";
                      case LESS_THAN_INITIAL_SHARE -> "LessThanInitialShare";
                    })
            .toList());
  }

  private static Map<String, Object> admissionFairSharing(AdmissionFairSharing given) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("usageHalfLifeTime", GoDuration.format(given.usageHalfLifeTime()));
    result.put("usageSamplingInterval", GoDuration.format(given.usageSamplingInterval()));
    result.put("resourceWeights", new TreeMap<>(given.resourceWeights()));
    return result;
  }

  private static Map<String, Object> readiness(WaitForPodsReady given) {
    Map<String, Object> requeuing = new LinkedHashMap<>();
    requeuing.put("timestamp", given.requeueByEviction() ? "Eviction" : "Creation");
    given.backoffLimitCount().ifPresent(limit -> requeuing.put("backoffLimitCount", limit));
    requeuing.put("backoffBaseSeconds", given.backoffBase().toSeconds());
    requeuing.put("backoffMaxSeconds", given.backoffMax().toSeconds());
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("timeout", GoDuration.format(given.timeout()));
    result.put("blockAdmission", given.blockAdmission());
    result.put("recoveryTimeout", GoDuration.format(given.recoveryTimeout()));
    result.put("requeuingStrategy", requeuing);
    return result;
  }

  private static Map<String, Object> retention(ObjectRetention given) {
    Map<String, Object> result = new LinkedHashMap<>();
    given.afterFinished().ifPresent(time -> result.put("afterFinished", GoDuration.format(time)));
    given
        .afterDeactivated()
        .ifPresent(time -> result.put("afterDeactivatedByKueue", GoDuration.format(time)));
    return result;
  }

  private static Map<String, Object> resources(Resources given) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put(
        "quotaCheckStrategy", given.blockUndeclared() ? "BlockUndeclared" : "IgnoreUndeclared");
    result.put("excludeResourcePrefixes", given.excludeResourcePrefixes());
    result.put(
        "transformations",
        given.transformations().stream().map(EffectiveCapabilities::transformation).toList());
    return result;
  }

  private static Map<String, Object> transformation(Transformation given) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("input", given.input());
    result.put("strategy", given.replace() ? "Replace" : "Retain");
    if (!given.multiplyBy().isEmpty()) {
      result.put("multiplyBy", given.multiplyBy());
    }
    Map<String, String> outputs = new TreeMap<>();
    for (Map.Entry<String, BigDecimal> output : given.outputs().entrySet()) {
      outputs.put(output.getKey(), output.getValue().toPlainString());
    }
    result.put("outputs", outputs);
    return result;
  }
}
