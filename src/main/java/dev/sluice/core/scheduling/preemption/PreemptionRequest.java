package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import java.util.function.BooleanSupplier;

/**
 * The request of a preemptor.
 *
 * @param queue the queue of the preemptor
 * @param priority the preemptor's effective priority
 * @param queuedAtMicros the preemptor's position in the queue
 * @param pairs the numbers of the requested pairs
 * @param amounts the requested amount of each pair
 * @param needed the pairs among them that need preemption
 * @param spared UID of the slice that the preemptor replaces, which is not among the candidates;
 *     empty if it replaces none
 * @param hasPlaces whether there is room on nodes for the pods, with the usage that counts at the
 *     moment
 */
public record PreemptionRequest(
    ClusterQueueCache queue,
    long priority,
    long queuedAtMicros,
    int[] pairs,
    long[] amounts,
    int[] needed,
    String spared,
    BooleanSupplier hasPlaces) {

  /** The request of a pending Workload, for a single pair only. */
  public static PreemptionRequest forPair(
      QueuedWorkload item, ClusterQueueCache queue, int pair, long amount) {
    return of(item, queue, new int[] {pair}, new long[] {amount}, new int[] {pair}, () -> true);
  }

  /** The request of a pending Workload. */
  public static PreemptionRequest of(
      QueuedWorkload item,
      ClusterQueueCache queue,
      int[] pairs,
      long[] amounts,
      int[] needed,
      BooleanSupplier hasPlaces) {
    return new PreemptionRequest(
        queue,
        item.equivalenceClass().priority(),
        item.queuedAtMicros(),
        pairs,
        amounts,
        needed,
        item.equivalenceClass().shape().replaced().map(ReplacedSlice::uid).orElse(""),
        hasPlaces);
  }

  /**
   * Whether the request fits with the current usage; without borrowing, it must also stay within
   * the nominal quota.
   */
  boolean fits(boolean borrowing) {
    QuotaNode node = queue.node();
    for (int i = 0; i < pairs.length; i++) {
      if (amounts[i] > node.available(pairs[i])
          || (!borrowing
              && ResourceAmounts.add(node.usage(pairs[i]), amounts[i]) > node.nominal(pairs[i]))) {
        return false;
      }
    }
    return hasPlaces.getAsBoolean();
  }

  /** Adds the request to the usage; {@link #unreserve} must undo this. */
  void reserve() {
    for (int i = 0; i < pairs.length; i++) {
      queue.node().add(pairs[i], amounts[i]);
    }
  }

  /** Undoes {@link #reserve}. */
  void unreserve() {
    for (int i = 0; i < pairs.length; i++) {
      queue.node().remove(pairs[i], amounts[i]);
    }
  }

  /** Whether a node borrows a needed pair. */
  boolean isBorrowing(QuotaNode node) {
    for (int pair : needed) {
      if (node.borrowing(pair)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the usage of the preemptor's queue is below the nominal quota of every needed pair. */
  boolean isBelowNominal() {
    for (int pair : needed) {
      if (queue.node().usage(pair) >= queue.node().nominal(pair)) {
        return false;
      }
    }
    return true;
  }

  /** The level of the cohort tree from which the request borrows. */
  int borrowLevel() {
    int level = 0;
    for (int i = 0; i < pairs.length; i++) {
      level = Math.max(level, queue.node().borrowLevel(pairs[i], amounts[i]));
    }
    return level;
  }
}
