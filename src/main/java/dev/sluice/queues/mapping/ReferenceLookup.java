package dev.sluice.queues.mapping;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.InactiveReason;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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

  /** The problems of checks and topologies that make the queue inactive. */
  public List<InactiveReason> problemsOf(ClusterQueue queue) {
    List<InactiveReason> problems = new ArrayList<>();
    for (String name : ClusterQueueMapper.admissionChecks(queue)) {
      problemOf(name).ifPresent(problems::add);
    }
    problems.addAll(new CheckCombinations(check, controllers).problemsOf(queue));
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
                          || CheckControllers.controllerOf(found)
                              .equals(KueueConstants.PROVISIONING_REQUEST))
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
}
