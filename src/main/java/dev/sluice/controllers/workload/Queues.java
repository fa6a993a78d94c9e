package dev.sluice.controllers.workload;

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
public record Queues(
    QueueStanding local, QueueStanding cluster, Optional<SortedSet<String>> checks) {

  /** Queues whose checks are not known. */
  public Queues(QueueStanding local, QueueStanding cluster) {
    this(local, cluster, Optional.empty());
  }
}
