package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Computes which checks a ClusterQueue requires (docs/workload-semantics.md#admission-checks). */
public final class CheckStrategy {

  /** The maximum number of checks in the status of a Workload. */
  static final int MAX_CHECKS = 8;

  private CheckStrategy() {}

  /**
   * The checks that a Workload of this queue needs, by name.
   *
   * @param assigned the assigned flavors; if empty, only checks that apply to every flavor are
   *     returned
   * @param labels those of the Workload
   */
  public static SortedSet<String> required(
      ClusterQueue queue,
      Optional<? extends Collection<String>> assigned,
      Map<String, String> labels) {
    ClusterQueueSpec spec = queue.getSpec();
    if (spec == null || spec.admissionChecksStrategy() == null) {
      return new TreeSet<>();
    }
    Set<String> flavors =
        spec.resourceGroups().stream()
            .flatMap(group -> group.flavors().stream())
            .map(flavor -> flavor.name())
            .collect(Collectors.toSet());
    Predicate<List<String>> needed =
        assigned
            .<Predicate<List<String>>>map(given -> on -> on.stream().anyMatch(given::contains))
            .orElse(on -> on.containsAll(flavors));
    CheckSelectors selectors = CheckSelectors.of(queue.getMetadata().getAnnotations());
    return spec.admissionChecksStrategy().admissionChecks().stream()
        .filter(rule -> rule.onFlavors().isEmpty() || needed.test(rule.onFlavors()))
        .map(AdmissionCheckStrategyRule::name)
        .filter(check -> selectors.select(check, labels))
        .sorted()
        .limit(MAX_CHECKS)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
