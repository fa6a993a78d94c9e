package dev.sluice.workload.lifecycle;

import java.util.Optional;
import java.util.SortedSet;

/**
 * How the queues of a Workload stand.
 *
 * @param local its LocalQueue
 * @param cluster the ClusterQueue whose quota it holds; while it holds none, the one behind its
 *     LocalQueue
 * @param checks the admission checks that it needs there; empty while that is not known
 */
public record QueueLookup(
    QueueState local, QueueState cluster, Optional<SortedSet<String>> checks) {

  /** Queues whose checks are not known. */
  public QueueLookup(QueueState local, QueueState cluster) {
    this(local, cluster, Optional.empty());
  }
}
