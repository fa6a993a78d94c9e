package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.InactiveReason;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Lookup of the objects that a ClusterQueue refers to, by name.
 *
 * @param check finds an AdmissionCheck
 * @param flavor finds a ResourceFlavor
 * @param topologyExists whether a Topology exists
 */
public record ReferenceLookup(
    Function<String, Optional<AdmissionCheck>> check,
    Function<String, Optional<ResourceFlavor>> flavor,
    Predicate<String> topologyExists) {

  /** The problems of checks and topologies that make the queue inactive. */
  public List<InactiveReason> problemsOf(ClusterQueue queue) {
    List<InactiveReason> problems = new ArrayList<>();
    for (String name : ClusterQueueMapper.admissionChecks(queue)) {
      problemOf(name).ifPresent(problems::add);
    }
    problems.addAll(new CheckCombinations(check).problemsOf(queue));
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

  private Optional<InactiveReason> problemOf(String name) {
    Optional<AdmissionCheck> found = check.apply(name);
    if (found.isEmpty()) {
      return Optional.of(
          new InactiveReason(
              InactiveReasonText.ADMISSION_CHECK_NOT_FOUND,
              "AdmissionCheck \"%s\" doesn't exist".formatted(name)));
    }
    return active(found.get())
        ? Optional.empty()
        : Optional.of(
            new InactiveReason(
                InactiveReasonText.ADMISSION_CHECK_INACTIVE,
                "AdmissionCheck \"%s\" is not active".formatted(name)));
  }

  private static boolean active(AdmissionCheck check) {
    if (check.getStatus() == null) {
      return false;
    }
    for (Condition condition : check.getStatus().conditions()) {
      if ("Active".equals(condition.getType())) {
        return "True".equals(condition.getStatus());
      }
    }
    return false;
  }
}
