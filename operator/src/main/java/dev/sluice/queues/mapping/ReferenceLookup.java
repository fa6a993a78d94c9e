package dev.sluice.queues.mapping;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Lookup of the objects that a ClusterQueue refers to, by name.
 *
 * @param check finds an AdmissionCheck
 * @param flavor finds a ResourceFlavor
 * @param topologyExists whether a Topology exists
 * @param controllers the controllers of AdmissionChecks that this program has
 */
public record ReferenceLookup(
    Function<String, Optional<AdmissionCheck>> check,
    Function<String, Optional<ResourceFlavor>> flavor,
    Predicate<String> topologyExists,
    CheckControllers controllers) {

  /** Controllers of checks that provide the nodes of a flavor after its quota is reserved. */
  private static final Set<String> PROVIDE_NODES =
      Set.of(KueueConstants.PROVISIONING_REQUEST, NodeCapacityAnnotations.CONTROLLER);

  /** The problems of checks and topologies that make the queue inactive. */
  public List<InactiveReason> problemsOf(ClusterQueue queue) {
    List<InactiveReason> problems = new ArrayList<>();
    for (String name : ClusterQueueMapper.admissionChecks(queue)) {
      problemOf(name).ifPresent(problems::add);
    }
    problems.addAll(new CheckCombinations(check, controllers).problemsOf(queue));
    CheckStrategy.lackOfRoom(queue)
        .ifPresent(
            problem -> problems.add(new InactiveReason(InactiveReasonText.UNKNOWN, problem)));
    for (String name : ClusterQueueMapper.flavors(queue)) {
      flavor
          .apply(name)
          .flatMap(FlavorMapper::topology)
          .filter(topology -> !topologyExists.test(topology))
          .ifPresent(
              topology ->
                  problems.add(
                      new InactiveReason(
                          InactiveReasonText.TOPOLOGY_NOT_FOUND,
                          "flavor \"%s\" names the Topology \"%s\", which doesn't exist"
                              .formatted(name, topology))));
    }
    return problems;
  }

  /**
   * Flavors with a topology whose places are found later than the quota: nodes for them are
   * provisioned when the quota is reserved, or another cluster has the nodes.
   */
  Set<String> delaysTopologyOf(ClusterQueue queue) {
    Set<String> result = new HashSet<>();
    for (AdmissionCheckStrategyRule rule : ClusterQueueMapper.checkRules(queue)) {
      boolean delays =
          check
              .apply(rule.name())
              .filter(
                  found ->
                      controllers.dispatchesRemotely(found)
                          || PROVIDE_NODES.contains(CheckControllers.controllerOf(found)))
              .isPresent();
      for (String name : delays ? ClusterQueueMapper.flavors(queue) : List.<String>of()) {
        boolean applies = rule.onFlavors().isEmpty() || rule.onFlavors().contains(name);
        if (applies && flavor.apply(name).flatMap(FlavorMapper::topology).isPresent()) {
          result.add(name);
        }
      }
    }
    return result;
  }

  private Optional<InactiveReason> problemOf(String name) {
    Optional<AdmissionCheck> found = check.apply(name);
    if (found.isEmpty()) {
      return Optional.of(
          new InactiveReason(
              InactiveReasonText.ADMISSION_CHECK_NOT_FOUND,
              "AdmissionCheck \"%s\" doesn't exist".formatted(name)));
    }
    Optional<Condition> active = active(found.get());
    return active.filter(condition -> "True".equals(condition.getStatus())).isPresent()
        ? Optional.empty()
        : Optional.of(
            new InactiveReason(
                InactiveReasonText.ADMISSION_CHECK_INACTIVE,
                "AdmissionCheck \"%s\" is not active: %s"
                    .formatted(
                        name,
                        active
                            .map(ReferenceLookup::quoted)
                            .orElseGet(() -> unreported(found.get())))));
  }

  private static String quoted(Condition condition) {
    return condition.getMessage() == null || condition.getMessage().isEmpty()
        ? String.valueOf(condition.getReason())
        : condition.getReason() + ": " + condition.getMessage();
  }

  /** No controller has said anything of the check: perhaps nobody runs its controller. */
  private String unreported(AdmissionCheck check) {
    String unset =
        "controller \"%s\" has not set its condition Active"
            .formatted(CheckControllers.controllerOf(check));
    return controllers.of(check).isPresent()
        ? unset
        : unset + "; controllers of this operator: " + controllers.names();
  }

  private static Optional<Condition> active(AdmissionCheck check) {
    return check.getStatus() == null
        ? Optional.empty()
        : check.getStatus().conditions().stream()
            .filter(condition -> "Active".equals(condition.getType()))
            .findFirst();
  }

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
}
