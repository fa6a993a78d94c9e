package dev.sluice.checks.multikueue;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.checks.controller.ActiveCondition;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Computes the condition of an AdmissionCheck from its parameters and the clusters of its
 * MultiKueueConfig.
 *
 * @param configs finds a MultiKueueConfig by name
 * @param clusters finds a MultiKueueCluster by name
 */
record MultiKueueCheckConditions(
    Function<String, Optional<MultiKueueConfig>> configs,
    Function<String, Optional<MultiKueueCluster>> clusters) {

  private static final String KIND = "MultiKueueConfig";

  ActiveCondition of(AdmissionCheckSpec spec) {
    AdmissionCheckParametersReference parameters = spec.parameters();
    if (parameters == null) {
      return badConfig(
          "spec.parameters: is missing; allowed: a " + KIND + " of " + ApiVersions.GROUP);
    }
    if (!ApiVersions.GROUP.equals(parameters.apiGroup()) || !KIND.equals(parameters.kind())) {
      return badConfig(
          "spec.parameters: \""
              + parameters.kind()
              + "."
              + parameters.apiGroup()
              + "\" is not understood; allowed: a "
              + KIND
              + " of "
              + ApiVersions.GROUP);
    }
    return configs
        .apply(parameters.name())
        .map(this::of)
        .orElseGet(
            () ->
                badConfig(
                    "spec.parameters.name: "
                        + KIND
                        + " \""
                        + parameters.name()
                        + "\" does not exist"));
  }

  private ActiveCondition of(MultiKueueConfig config) {
    List<String> missing = new ArrayList<>();
    List<String> inactive = new ArrayList<>();
    int active = 0;
    for (String name : names(config)) {
      Optional<MultiKueueCluster> cluster = clusters.apply(name);
      if (cluster.isEmpty()) {
        missing.add(name);
      } else if (isActive(cluster.get())) {
        active++;
      } else {
        inactive.add(name);
      }
    }
    if (missing.isEmpty() && inactive.isEmpty() && active > 0) {
      return new ActiveCondition(true, "Active", "All clusters are active");
    }
    String unusableText = unusableText(missing, inactive);
    return active > 0
        ? new ActiveCondition(true, "SomeActiveClusters", unusableText)
        : new ActiveCondition(false, "NoUsableClusters", unusableText);
  }

  private static List<String> names(MultiKueueConfig config) {
    return config.getSpec() == null ? List.of() : config.getSpec().clusters();
  }

  private static boolean isActive(MultiKueueCluster cluster) {
    var status = cluster.getStatus();
    return status != null
        && !cluster.isMarkedForDeletion()
        && ActiveCondition.holds(status.conditions());
  }

  private static String unusableText(List<String> missing, List<String> inactive) {
    List<String> parts = new ArrayList<>();
    if (!missing.isEmpty()) {
      parts.add("Missing clusters: " + missing);
    }
    if (!inactive.isEmpty()) {
      parts.add("Inactive clusters: " + inactive);
    }
    return parts.isEmpty() ? "No clusters" : String.join(", ", parts);
  }

  private static ActiveCondition badConfig(String message) {
    return new ActiveCondition(false, "BadConfig", message);
  }
}
