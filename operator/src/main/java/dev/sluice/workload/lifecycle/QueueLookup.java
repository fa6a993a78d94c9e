package dev.sluice.workload.lifecycle;

import dev.sluice.api.queueing.StartRules;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/**
 * The states of the queues of a Workload, of its pods, of the devices that it requests, and of the
 * topology of its flavors.
 *
 * @param local the state of its LocalQueue
 * @param cluster the state of the ClusterQueue whose quota the Workload has reserved; without a
 *     reservation, of the ClusterQueue that its LocalQueue feeds
 * @param checks the admission checks that the Workload needs in that ClusterQueue; empty while they
 *     are not known
 * @param startRules what that ClusterQueue says about starts
 * @param unresolvedDevices why quota can't count the devices of the Workload yet; empty if it can
 * @param unscheduledPods whether a pod of the Workload exists that may run and has no node yet
 * @param idleSpreading which rules for the spreading of its groups have no effect, by the type of
 *     the condition that says so
 */
public record QueueLookup(
    QueueState local,
    QueueState cluster,
    Optional<SortedSet<String>> checks,
    StartRules startRules,
    Optional<String> unresolvedDevices,
    boolean unscheduledPods,
    Map<String, String> idleSpreading) {

  /** Queues that say nothing about starts. */
  public QueueLookup(QueueState local, QueueState cluster, Optional<SortedSet<String>> checks) {
    this(local, cluster, checks, StartRules.NONE, Optional.empty(), false, Map.of());
  }

  /** Queues whose checks are not known. */
  public QueueLookup(QueueState local, QueueState cluster) {
    this(local, cluster, Optional.empty());
  }

  /** The same queues, for a Workload that isn't checked itself: its checks stay as they are. */
  public QueueLookup withoutChecks() {
    return new QueueLookup(
        local,
        cluster,
        Optional.empty(),
        startRules,
        unresolvedDevices,
        unscheduledPods,
        idleSpreading);
  }

  /** The same queues, where nobody's priority grows. */
  public QueueLookup withoutAging() {
    return startRules.aging().isEmpty()
        ? this
        : new QueueLookup(
            local,
            cluster,
            checks,
            startRules.withoutAging(),
            unresolvedDevices,
            unscheduledPods,
            idleSpreading);
  }

  /** The same queues, for a Workload whose devices can't be counted for this reason. */
  public QueueLookup withUnresolvedDevices(Optional<String> reason) {
    return reason.isEmpty()
        ? this
        : new QueueLookup(
            local, cluster, checks, startRules, reason, unscheduledPods, idleSpreading);
  }

  /** The same queues, for a Workload that has, or doesn't have, pods without a node. */
  public QueueLookup withUnscheduledPods(boolean present) {
    return present == unscheduledPods
        ? this
        : new QueueLookup(
            local, cluster, checks, startRules, unresolvedDevices, present, idleSpreading);
  }

  /** The same queues, for a Workload of which these rules have no effect. */
  public QueueLookup withIdleSpreading(Map<String, String> messages) {
    return messages.isEmpty()
        ? this
        : new QueueLookup(
            local, cluster, checks, startRules, unresolvedDevices, unscheduledPods, messages);
  }

  /** The state of a queue, as far as it matters to the Workloads of the queue. */
  public enum QueueState {
    /** The queue doesn't exist. */
    MISSING,
    /** The queue is being deleted. */
    TERMINATING,
    /** The queue admits no Workloads; admitted Workloads keep running. */
    HELD,
    /** The queue admits no Workloads, and admitted Workloads are evicted. */
    DRAINED,
    /** The queue exists and is not stopped. */
    OPEN;

    /** Whether a stop policy is set. */
    boolean stopped() {
      return this == HELD || this == DRAINED;
    }
  }
}
