package dev.sluice.core.queue;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.quota.QuotaNode;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;

/**
 * A Workload that holds quota of a queue, as preemption sees it. What decides its place among
 * victims never changes: when it does, another one takes its place. Confined to the engine's
 * thread.
 */
public final class QuotaHolder {

  /**
   * Who is preempted first: low priority, then late reservation, then the UID
   * (docs/scheduling-semantics.md#classical-preemption).
   */
  public static final Comparator<QuotaHolder> VICTIM_ORDER =
      (one, two) -> {
        int byPriority = Long.compare(one.priority, two.priority);
        if (byPriority != 0) {
          return byPriority;
        }
        int byTime = Long.compare(two.reservedAtMicros, one.reservedAtMicros);
        return byTime != 0 ? byTime : one.id.uid().compareTo(two.id.uid());
      };

  private final WorkloadId id;
  private final LocalQueueId localQueue;
  private final long priority;
  private final long queuedAtMicros;
  private final long reservedAtMicros;
  private final int[] pairs;
  private final long[] amounts;
  private final boolean evicted;
  private boolean gone;

  /**
   * A holder.
   *
   * @param id which Workload
   * @param localQueue its LocalQueue
   * @param priority its effective priority
   * @param queuedAt its place in the queue, as for a pending one
   * @param reservedAt when it got its quota
   * @param pairs the pairs it holds, by number
   * @param amounts how much of each
   * @param evicted whether it is being evicted, or about to be
   */
  public QuotaHolder(
      WorkloadId id,
      LocalQueueId localQueue,
      long priority,
      Instant queuedAt,
      Instant reservedAt,
      int[] pairs,
      long[] amounts,
      boolean evicted) {
    this(
        id,
        localQueue,
        priority,
        Instants.micros(queuedAt),
        Instants.micros(reservedAt),
        pairs,
        amounts,
        evicted);
  }

  private QuotaHolder(
      WorkloadId id,
      LocalQueueId localQueue,
      long priority,
      long queuedAtMicros,
      long reservedAtMicros,
      int[] pairs,
      long[] amounts,
      boolean evicted) {
    this.id = id;
    this.localQueue = localQueue;
    this.priority = priority;
    this.queuedAtMicros = queuedAtMicros;
    this.reservedAtMicros = reservedAtMicros;
    this.pairs = pairs;
    this.amounts = amounts;
    this.evicted = evicted;
  }

  /** The same one, being evicted or not. */
  public QuotaHolder evicting(boolean evicting) {
    return new QuotaHolder(
        id, localQueue, priority, queuedAtMicros, reservedAtMicros, pairs, amounts, evicting);
  }

  /** Which Workload. */
  public WorkloadId id() {
    return id;
  }

  /** Its LocalQueue. */
  public LocalQueueId localQueue() {
    return localQueue;
  }

  /** Its effective priority. */
  public long priority() {
    return priority;
  }

  /** Since when it queued, in microseconds since the epoch. */
  public long queuedAtMicros() {
    return queuedAtMicros;
  }

  /** Whether it is being evicted, or about to be. */
  public boolean evicted() {
    return evicted;
  }

  /** Whether the decision at hand reckons it gone already. */
  public boolean gone() {
    return gone;
  }

  /** How many pairs it holds. */
  public int size() {
    return pairs.length;
  }

  /** The number of its i-th pair. */
  public int pair(int i) {
    return pairs[i];
  }

  /** How much it holds of its i-th pair. */
  public long amount(int i) {
    return amounts[i];
  }

  /** How much it holds of the pair with this number; 0 if nothing. */
  public long amountOf(int pair) {
    for (int i = 0; i < pairs.length; i++) {
      if (pairs[i] == pair) {
        return amounts[i];
      }
    }
    return 0;
  }

  /** Whether it holds some of one of these pairs. */
  public boolean usesAny(int[] wanted) {
    for (int i = 0; i < pairs.length; i++) {
      if (amounts[i] > 0) {
        for (int pair : wanted) {
          if (pairs[i] == pair) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** Adds what it holds to the usage of a node. */
  public void addTo(QuotaNode node) {
    for (int i = 0; i < pairs.length; i++) {
      node.add(pairs[i], amounts[i]);
    }
  }

  /** Gives what it holds back for the time of a decision; to be undone by {@link #restoreUsage}. */
  public void removeUsage(ClusterQueueCache queue) {
    gone = true;
    for (int i = 0; i < pairs.length; i++) {
      queue.node().remove(pairs[i], amounts[i]);
    }
  }

  /** Holds again what it held before {@link #removeUsage}. */
  public void restoreUsage(ClusterQueueCache queue) {
    gone = false;
    addTo(queue.node());
  }

  /** Whether it is the same to preemption. */
  public boolean sameAs(QuotaHolder other) {
    return id.equals(other.id)
        && priority == other.priority
        && evicted == other.evicted
        && queuedAtMicros == other.queuedAtMicros
        && reservedAtMicros == other.reservedAtMicros
        && localQueue.equals(other.localQueue)
        && hasSameUsageAs(other);
  }

  /** Whether it holds as much of the same pairs. */
  public boolean hasSameUsageAs(QuotaHolder other) {
    return Arrays.equals(pairs, other.pairs) && Arrays.equals(amounts, other.amounts);
  }
}
