package dev.sluice.checks.multikueue.placement;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The workers that a Workload may use.
 *
 * @param configured the workers of the MultiKueueConfig, in its order
 * @param excluded the configured workers that the Workload may not use, and why
 * @param known whether the MultiKueueConfigs are known; before that no worker counts as removed
 */
public record ClusterCandidates(
    List<String> configured, Map<String, String> excluded, boolean known) {

  /** Creates candidates of a MultiKueueConfig that is known. */
  public ClusterCandidates(List<String> configured, Map<String, String> excluded) {
    this(configured, excluded, true);
  }

  /** Copies the collections. */
  public ClusterCandidates {
    configured = List.copyOf(configured);
    excluded = Map.copyOf(excluded);
  }

  /** The workers that the Workload may use, in order. */
  public List<String> allowed() {
    return configured.stream().filter(name -> !excluded.containsKey(name)).toList();
  }

  /** Copy that also excludes the workers for which the predicate holds. */
  public ClusterCandidates without(Predicate<String> which, String why) {
    Map<String, String> more = new HashMap<>(excluded);
    configured.stream().filter(which).forEach(name -> more.putIfAbsent(name, why));
    return new ClusterCandidates(configured, more, known);
  }
}
