package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionCheckStrategyRule;
import dev.sluice.workload.status.CheckStates;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Computes which checks a ClusterQueue requires (docs/workload-semantics.md#admission-checks). */
public final class CheckStrategy {

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
    List<String> flavors = ClusterQueueMapper.flavors(queue);
    Predicate<List<String>> needed =
        assigned
            .<Predicate<List<String>>>map(given -> on -> on.stream().anyMatch(given::contains))
            .orElse(on -> on.containsAll(flavors));
    CheckSelectors selectors = CheckSelectors.of(queue.getMetadata().getAnnotations());
    return ClusterQueueMapper.checkRules(queue).stream()
        .filter(rule -> rule.onFlavors().isEmpty() || needed.test(rule.onFlavors()))
        .map(AdmissionCheckStrategyRule::name)
        .filter(check -> selectors.select(check, labels))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Why no Workload of this queue can be admitted, or none that gets one of its flavors: more
   * checks apply than the status of a Workload has room for. Checks that only some Workloads need
   * don't count.
   */
  static Optional<String> lackOfRoom(ClusterQueue queue) {
    CheckSelectors selectors = CheckSelectors.of(queue.getMetadata().getAnnotations());
    List<AdmissionCheckStrategyRule> rules =
        ClusterQueueMapper.checkRules(queue).stream()
            .filter(rule -> !selectors.narrows(rule.name()))
            .toList();
    long toAll = rules.stream().filter(rule -> rule.onFlavors().isEmpty()).count();
    if (toAll > CheckStates.MOST) {
      return Optional.of(lackOfRoom(toAll, "all flavors"));
    }
    return ClusterQueueMapper.flavors(queue).stream()
        .flatMap(
            flavor -> {
              long some = rules.stream().filter(rule -> rule.onFlavors().contains(flavor)).count();
              return toAll + some > CheckStates.MOST
                  ? Stream.of(lackOfRoom(toAll + some, "flavor \"" + flavor + "\""))
                  : Stream.empty();
            })
        .findFirst();
  }

  private static String lackOfRoom(long checks, String flavors) {
    return "spec.admissionChecksStrategy.admissionChecks: %d checks apply to %s, and the status of a Workload has room for %d"
        .formatted(checks, flavors, CheckStates.MOST);
  }
}
