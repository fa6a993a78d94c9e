package dev.sluice.workload.lifecycle;

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
 */
public record QueueLookup(
    QueueState local, QueueState cluster, Optional<SortedSet<String>> checks) {

  /** Queues whose checks are not known. */
  public QueueLookup(QueueState local, QueueState cluster) {
    this(local, cluster, Optional.empty());
  }
}
