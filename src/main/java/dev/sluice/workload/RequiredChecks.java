package dev.sluice.workload;

import java.util.Collection;
import java.util.Optional;
import java.util.SortedSet;

/** Knows which admission checks ClusterQueues ask for. Usable from any thread. */
@FunctionalInterface
public interface RequiredChecks {

  /** Of queues nobody knows. */
  RequiredChecks UNKNOWN = (clusterQueue, assigned) -> Optional.empty();

  /**
   * The names of the checks that a Workload needs.
   *
   * @param assigned the flavors that it is given; empty while it is given none
   * @return empty if the ClusterQueue is not known
   */
  Optional<SortedSet<String>> of(
      String clusterQueue, Optional<? extends Collection<String>> assigned);
}
