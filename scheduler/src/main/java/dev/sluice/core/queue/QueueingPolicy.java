package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * A queueing strategy of a ClusterQueue (docs/scheduling-semantics.md#queue-order): the order of
 * its pending Workloads, the treatment of a head that can't be admitted, and the Workloads that are
 * evaluated after a release of quota. Implementations have no state. {@link QueueingPolicies} lists
 * them.
 */
public interface QueueingPolicy {

  /**
   * The order of pending Workloads; with admission fair sharing, of those of LocalQueues with equal
   * usage. It must order the Workloads of one equivalence class by age, because the first one
   * stands for its class.
   */
  Comparator<QueuedWorkload> order();

  /**
   * Whether a head that can't be admitted blocks its queue: it stays the head, and no Workload
   * behind it is evaluated. Otherwise its equivalence class becomes inadmissible, and the first
   * Workload of another class becomes the head.
   */
  boolean headBlocks();

  /**
   * Whether a Workload for which others are preempted comes before all others of its queue, except
   * for those of LocalQueues with less usage, until it is admitted or another one preempts.
   */
  boolean keepsPreemptorFirst();

  /**
   * Whether a head that can't be admitted leaves the queue alone for a pause, which is longer after
   * each attempt, instead of waiting with its class for a release of quota.
   */
  default boolean backsOff() {
    return false;
  }

  /** Whether a release of quota in the queue ends all pauses of its Workloads. */
  default boolean releaseEndsPauses() {
    return false;
  }

  /**
   * Whether a class that may fit after a release of quota takes part in the next cycle. At most one
   * class of a queue is asked about: the first one that the release may help. A class that does not
   * take part now is asked about again before the next cycle.
   *
   * @param pending the queue of the class
   * @param first the first class of the queue, in its order, that may fit
   */
  boolean isCandidate(PendingQueue pending, EquivalenceClass first);
}
