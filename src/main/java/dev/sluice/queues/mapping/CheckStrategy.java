package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueueSpec;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Which checks a ClusterQueue asks for (docs/workload-semantics.md#admission-checks). */
public final class CheckStrategy {

  /** The most checks that the status of a Workload may have. */
  static final int MOST = 8;

  private CheckStrategy() {}

  /**
   * The checks that a Workload of this queue needs, by name.
   *
   * @param assigned the flavors that it was given; empty while it was given none, in which case
   *     only those checks count that it needs whatever flavor it will be given
   */
  public static SortedSet<String> required(
      ClusterQueue queue, Optional<? extends Collection<String>> assigned) {
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
    return spec.admissionChecksStrategy().admissionChecks().stream()
        .filter(rule -> rule.onFlavors().isEmpty() || needed.test(rule.onFlavors()))
        .map(AdmissionCheckStrategyRule::name)
        .sorted()
        .limit(MOST)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
