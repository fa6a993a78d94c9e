package dev.sluice.queues.mapping;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.model.InactiveReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Validates the combination of checks in one queue: at most one MultiKueue check, for all flavors,
 * and no provisioning check beside it.
 *
 * @param check finds an AdmissionCheck by name
 */
record CheckCombinations(Function<String, Optional<AdmissionCheck>> check) {

  private static final String PROVISIONING = "kueue.x-k8s.io/provisioning-request";
  private static final String FIELD = "spec.admissionChecksStrategy.admissionChecks";

  List<InactiveReason> problemsOf(ClusterQueue queue) {
    List<AdmissionCheckStrategyRule> rules = rules(queue);
    List<AdmissionCheckStrategyRule> away = of(KueueConstants.MULTIKUEUE, rules);
    if (away.isEmpty()) {
      return List.of();
    }
    List<InactiveReason> problems = new ArrayList<>();
    if (away.size() > 1) {
      problems.add(
          new InactiveReason(
              InactiveReasonText.MULTIPLE_MULTI_KUEUE,
              "%s: %s are all of %s; only one may be"
                  .formatted(FIELD, names(away), KueueConstants.MULTIKUEUE)));
    }
    List<AdmissionCheckStrategyRule> perFlavor =
        away.stream().filter(rule -> !rule.onFlavors().isEmpty()).toList();
    if (!perFlavor.isEmpty()) {
      problems.add(
          new InactiveReason(
              InactiveReasonText.MULTI_KUEUE_PER_FLAVOR,
              "%s: %s is of %s and must apply to all flavors: leave onFlavors out"
                  .formatted(FIELD, names(perFlavor), KueueConstants.MULTIKUEUE)));
    }
    List<AdmissionCheckStrategyRule> provisioning = of(PROVISIONING, rules);
    if (!provisioning.isEmpty()) {
      problems.add(
          new InactiveReason(
              InactiveReasonText.MULTI_KUEUE_WITH_PROVISIONING,
              "%s: %s (%s) and %s (%s) can't be combined"
                  .formatted(
                      FIELD,
                      names(away),
                      KueueConstants.MULTIKUEUE,
                      names(provisioning),
                      PROVISIONING)));
    }
    return problems;
  }

  private static List<AdmissionCheckStrategyRule> rules(ClusterQueue queue) {
    var spec = queue.getSpec();
    return spec == null || spec.admissionChecksStrategy() == null
        ? List.of()
        : spec.admissionChecksStrategy().admissionChecks();
  }

  private List<AdmissionCheckStrategyRule> of(
      String controller, List<AdmissionCheckStrategyRule> rules) {
    return rules.stream()
        .filter(
            rule ->
                check
                    .apply(rule.name())
                    .filter(it -> it.getSpec() != null)
                    .filter(it -> controller.equals(it.getSpec().controllerName()))
                    .isPresent())
        .toList();
  }

  private static String names(List<AdmissionCheckStrategyRule> rules) {
    return rules.stream().map(AdmissionCheckStrategyRule::name).toList().toString();
  }
}
