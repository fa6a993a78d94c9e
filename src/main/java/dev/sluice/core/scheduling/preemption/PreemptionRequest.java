package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;

/**
 * Somebody for whom others would have to go.
 *
 * @param queue the queue it waits in
 * @param priority its effective priority
 * @param queuedAtMicros its place in the queue
 * @param pairs what it requests: pairs, by number
 * @param amounts how much of each
 * @param needed the pairs among them that take preemption
 */
public record PreemptionRequest(
    ClusterQueueCache queue,
    long priority,
    long queuedAtMicros,
    int[] pairs,
    long[] amounts,
    int[] needed) {

  /** One that waits, for a single pair only. */
  public static PreemptionRequest forPair(
      QueuedWorkload item, ClusterQueueCache queue, int pair, long amount) {
    return of(item, queue, new int[] {pair}, new long[] {amount}, new int[] {pair});
  }

  /** One that waits. */
  public static PreemptionRequest of(
      QueuedWorkload item, ClusterQueueCache queue, int[] pairs, long[] amounts, int[] needed) {
    return new PreemptionRequest(
        queue, item.equivalenceClass().priority(), item.queuedAtMicros(), pairs, amounts, needed);
  }

  /** Whether its request fits, as usage stands; without borrowing if it isn't allowed. */
  boolean fits(boolean borrowing) {
    QuotaNode node = queue.node();
    for (int i = 0; i < pairs.length; i++) {
      if (amounts[i] > node.available(pairs[i])
          || (!borrowing
              && ResourceAmounts.add(node.usage(pairs[i]), amounts[i]) > node.nominal(pairs[i]))) {
        return false;
      }
    }
    return true;
  }

  /** Counts its request as used, to be undone by {@link #unreserve}. */
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

  /** Whether a node uses more than the quota of its subtree of a pair that is needed. */
  boolean isBorrowing(QuotaNode node) {
    for (int pair : needed) {
      if (node.borrowing(pair)) {
        return true;
      }
    }
    return false;
  }

  /** Whether its queue uses less than its own quota of every pair that is needed. */
  boolean isBelowNominal() {
    for (int pair : needed) {
      if (queue.node().usage(pair) >= queue.node().nominal(pair)) {
        return false;
      }
    }
    return true;
  }

  /** How high it would borrow for what it needs. */
  int borrowLevel() {
    int level = 0;
    for (int i = 0; i < pairs.length; i++) {
      level = Math.max(level, queue.node().borrowLevel(pairs[i], amounts[i]));
    }
    return level;
  }
}
