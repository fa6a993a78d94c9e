package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.QuotaNode;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The request of a preemptor.
 *
 * @param preemptor who asks, and when
 * @param pairs the numbers of the requested pairs
 * @param amounts the requested amount of each pair
 * @param needed the pairs among them that need preemption
 * @param hasPlaces whether there is room on nodes for the pods, with the usage that counts at the
 *     moment
 * @param byWork the order of candidates of one priority by the work that would be lost; empty: by
 *     the time of that alone
 */
public record PreemptionRequest(
    Preemptor preemptor,
    int[] pairs,
    long[] amounts,
    int[] needed,
    BooleanSupplier hasPlaces,
    Optional<LostWork> byWork) {

  /** A request whose candidates are ordered by time. */
  public PreemptionRequest(
      Preemptor preemptor, int[] pairs, long[] amounts, int[] needed, BooleanSupplier hasPlaces) {
    this(preemptor, pairs, amounts, needed, hasPlaces, Optional.empty());
  }

  /** The request for a single pair only. */
  public static PreemptionRequest forPair(Preemptor preemptor, int pair, long amount) {
    return new PreemptionRequest(
        preemptor, new int[] {pair}, new long[] {amount}, new int[] {pair}, () -> true);
  }

  /** The same request, whose candidates are ordered by work. */
  PreemptionRequest by(LostWork lostWork) {
    return new PreemptionRequest(
        preemptor, pairs, amounts, needed, hasPlaces, Optional.of(lostWork));
  }

  /** The order of candidates of one kind. */
  Comparator<QuotaHolder> order() {
    return byWork.isPresent() ? byWork.get() : QuotaHolder.PREEMPTION_ORDER;
  }

  /** The candidates of a queue, as {@link QuotaHolders#groups}, each group in this order. */
  Iterator<Iterator<QuotaHolder>> groups(ClusterQueueCache ofQueue, boolean evicted) {
    Iterator<Iterator<QuotaHolder>> groups = ofQueue.holders().groups(evicted);
    return byWork.isPresent() ? byWork.get().sorted(groups) : groups;
  }

  /** The queue of the preemptor. */
  public ClusterQueueCache queue() {
    return preemptor.queue();
  }

  /** The preemptor's effective priority. */
  public long priority() {
    return preemptor.priority();
  }

  /** The preemptor's position in the queue. */
  public long queuedAtMicros() {
    return preemptor.queuedAtMicros();
  }

  /**
   * Whether the request fits with the current usage; without borrowing, it must also stay within
   * the nominal quota.
   */
  boolean fits(boolean borrowing) {
    return fitsQuota(borrowing) && hasPlaces.getAsBoolean();
  }

  /** The same, wherever pods find room on nodes. */
  boolean fitsQuota(boolean borrowing) {
    QuotaNode node = queue().node();
    for (int i = 0; i < pairs.length; i++) {
      if (amounts[i] > node.available(pairs[i])
          || (!borrowing
              && ResourceAmounts.add(node.usage(pairs[i]), amounts[i]) > node.nominal(pairs[i]))) {
        return false;
      }
    }
    return true;
  }

  /** Adds the request to the usage; {@link #unreserve} must undo this. */
  void reserve() {
    for (int i = 0; i < pairs.length; i++) {
      queue().node().add(pairs[i], amounts[i]);
    }
  }

  /** Undoes {@link #reserve}. */
  void unreserve() {
    for (int i = 0; i < pairs.length; i++) {
      queue().node().remove(pairs[i], amounts[i]);
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
      if (queue().node().usage(pair) >= queue().node().nominal(pair)) {
        return false;
      }
    }
    return true;
  }

  /** The level of the cohort tree from which the request borrows. */
  int borrowLevel() {
    int level = 0;
    for (int i = 0; i < pairs.length; i++) {
      level = Math.max(level, queue().node().borrowLevel(pairs[i], amounts[i]));
    }
    return level;
  }
}
