package dev.sluice.workload.lifecycle;

import dev.sluice.api.queueing.StartRules;
import java.util.Optional;
import java.util.SortedSet;

/**
 * The states of the queues of a Workload.
 *
 * @param local the state of its LocalQueue
 * @param cluster the state of the ClusterQueue whose quota the Workload has reserved; without a
 *     reservation, of the ClusterQueue that its LocalQueue feeds
 * @param checks the admission checks that the Workload needs in that ClusterQueue; empty while they
 *     are not known
 * @param startRules what that ClusterQueue says about starts
 */
public record QueueLookup(
    QueueState local,
    QueueState cluster,
    Optional<SortedSet<String>> checks,
    StartRules startRules) {

  /** Queues that say nothing about starts. */
  public QueueLookup(QueueState local, QueueState cluster, Optional<SortedSet<String>> checks) {
    this(local, cluster, checks, StartRules.NONE);
  }

  /** Queues whose checks are not known. */
  public QueueLookup(QueueState local, QueueState cluster) {
    this(local, cluster, Optional.empty());
  }
}
