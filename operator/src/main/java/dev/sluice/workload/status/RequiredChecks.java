package dev.sluice.workload.status;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/** The admission checks that ClusterQueues require. Usable from any thread. */
@FunctionalInterface
public interface RequiredChecks {

  /** Requirements that know no queues. */
  RequiredChecks UNKNOWN = (clusterQueue, assigned, labels) -> Optional.empty();

  /**
   * The names of the checks that a Workload requires.
   *
   * @param assigned the assigned flavors; empty before an assignment
   * @param labels those of the Workload
   * @return empty if the ClusterQueue is not known
   */
  Optional<SortedSet<String>> of(
      String clusterQueue,
      Optional<? extends Collection<String>> assigned,
      Map<String, String> labels);
}
