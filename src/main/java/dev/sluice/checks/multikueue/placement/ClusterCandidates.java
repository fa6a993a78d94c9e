package dev.sluice.checks.multikueue.placement;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The workers that a Workload may go to.
 *
 * @param configured by the MultiKueueConfig, in its order
 * @param excluded those of them that it may not go to, and why
 */
public record ClusterCandidates(List<String> configured, Map<String, String> excluded) {

  /** None. */
  public static final ClusterCandidates NONE = new ClusterCandidates(List.of(), Map.of());

  /** With copies of the collections. */
  public ClusterCandidates {
    configured = List.copyOf(configured);
    excluded = Map.copyOf(excluded);
  }

  /** Those it may go to, in order. */
  public List<String> allowed() {
    return configured.stream().filter(name -> !excluded.containsKey(name)).toList();
  }

  /** The same without those of which something is true, too. */
  public ClusterCandidates without(Predicate<String> which, String why) {
    Map<String, String> more = new HashMap<>(excluded);
    configured.stream().filter(which).forEach(name -> more.putIfAbsent(name, why));
    return new ClusterCandidates(configured, more);
  }
}
