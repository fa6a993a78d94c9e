package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.model.InactiveReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Validates the combination of checks in one queue, by what each controller demands.
 *
 * @param check finds an AdmissionCheck by name
 * @param controllers the controllers that this program has
 */
record CheckCombinations(
    Function<String, Optional<AdmissionCheck>> check, CheckControllers controllers) {

  private static final String FIELD = "spec.admissionChecksStrategy.admissionChecks";

  List<InactiveReason> problemsOf(ClusterQueue queue) {
    List<AdmissionCheckStrategyRule> rules = rules(queue);
    List<InactiveReason> problems = new ArrayList<>();
    for (CheckControllerDescription controller : controllers.all()) {
      List<AdmissionCheckStrategyRule> own = of(controller.name(), rules);
      if (!own.isEmpty()) {
        count(controller, own).ifPresent(problems::add);
        flavors(controller, own).ifPresent(problems::add);
        new TreeMap<>(controller.combinations().excluded())
            .forEach(
                (other, reason) -> {
                  List<AdmissionCheckStrategyRule> others = of(other, rules);
                  if (!others.isEmpty()) {
                    problems.add(excluded(controller.name(), own, other, others, reason));
                  }
                });
      }
    }
    return problems;
  }

  private static Optional<InactiveReason> count(
      CheckControllerDescription controller, List<AdmissionCheckStrategyRule> own) {
    return controller
        .combinations()
        .atMostOne()
        .filter(reason -> own.size() > 1)
        .map(
            reason ->
                new InactiveReason(
                    reason,
                    "%s: %s belong to controller %s; only one check of it is allowed"
                        .formatted(FIELD, names(own), controller.name())));
  }

  private static Optional<InactiveReason> flavors(
      CheckControllerDescription controller, List<AdmissionCheckStrategyRule> own) {
    List<AdmissionCheckStrategyRule> perFlavor =
        own.stream().filter(rule -> !rule.onFlavors().isEmpty()).toList();
    return controller
        .combinations()
        .forAllFlavors()
        .filter(reason -> !perFlavor.isEmpty())
        .map(
            reason ->
                new InactiveReason(
                    reason,
                    "%s: %s belongs to controller %s and must apply to all flavors: leave onFlavors out"
                        .formatted(FIELD, names(perFlavor), controller.name())));
  }

  private static InactiveReason excluded(
      String controller,
      List<AdmissionCheckStrategyRule> own,
      String other,
      List<AdmissionCheckStrategyRule> others,
      String reason) {
    return new InactiveReason(
        reason,
        "%s: %s (%s) and %s (%s) can't be combined"
            .formatted(FIELD, names(own), controller, names(others), other));
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
                    .filter(it -> controller.equals(CheckControllers.controllerOf(it)))
                    .isPresent())
        .toList();
  }

  private static String names(List<AdmissionCheckStrategyRule> rules) {
    return rules.stream().map(AdmissionCheckStrategyRule::name).toList().toString();
  }
}
