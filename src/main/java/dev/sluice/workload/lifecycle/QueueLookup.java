package dev.sluice.workload.lifecycle;

import dev.sluice.api.queueing.StartRules;
import java.util.Optional;
import java.util.SortedSet;

/**
 * The states of the queues of a Workload, and of the devices that it requests.
 *
 * @param local the state of its LocalQueue
 * @param cluster the state of the ClusterQueue whose quota the Workload has reserved; without a
 *     reservation, of the ClusterQueue that its LocalQueue feeds
 * @param checks the admission checks that the Workload needs in that ClusterQueue; empty while they
 *     are not known
 * @param startRules what that ClusterQueue says about starts
 * @param unresolvedDevices why quota can't count the devices of the Workload yet; empty if it can
 */
public record QueueLookup(
    QueueState local,
    QueueState cluster,
    Optional<SortedSet<String>> checks,
    StartRules startRules,
    Optional<String> unresolvedDevices) {

  /** Queues that say nothing about starts. */
  public QueueLookup(QueueState local, QueueState cluster, Optional<SortedSet<String>> checks) {
    this(local, cluster, checks, StartRules.NONE, Optional.empty());
  }

  /** Queues whose checks are not known. */
  public QueueLookup(QueueState local, QueueState cluster) {
    this(local, cluster, Optional.empty());
  }

  /** The same queues, for a Workload whose devices can't be counted for this reason. */
  public QueueLookup withUnresolvedDevices(Optional<String> reason) {
    return reason.isEmpty() ? this : new QueueLookup(local, cluster, checks, startRules, reason);
  }
}
