package dev.sluice.core.queue;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyExport;
import dev.sluice.core.topology.TopologyUsage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A Workload that has quota of a queue reserved, as preemption sees it. The fields that order
 * holders never change: a changed Workload gets a new holder. Confined to the scheduler thread.
 */
public final class QuotaHolder {

  /**
   * Order of preemption: low priority first, then the late reservation or checkpoint, of which
   * least work would be lost, then the UID (docs/scheduling-semantics.md#classical-preemption).
   */
  public static final Comparator<QuotaHolder> PREEMPTION_ORDER =
      (one, two) -> {
        int byPriority = Long.compare(one.priority, two.priority);
        if (byPriority != 0) {
          return byPriority;
        }
        int byTime = Long.compare(two.lossSinceMicros, one.lossSinceMicros);
        if (byTime != 0) {
          return byTime;
        }
        int byPrefix = Long.compareUnsigned(one.uidPrefix, two.uidPrefix);
        return byPrefix != 0 ? byPrefix : one.id.uid().compareTo(two.id.uid());
      };

  private final WorkloadId id;
  private final LocalQueueId localQueue;
  private final long priority;
  private final long queuedAtMicros;
  private final long reservedAtMicros;
  private final long lossSinceMicros;

  /** The first four characters of the UID: many holders are ordered without a look at the rest. */
  private final long uidPrefix;

  private final int[] pairs;
  private final long[] amounts;
  private final boolean evicted;
  private final boolean evictable;
  private final boolean guaranteed;
  private final @Nullable TopologyUsage topology;
  private final PreemptionProtection protection;
  private boolean usageRemoved;

  /** How long it has its quota at most, as of the bounds with this number. */
  private long longest;

  private int longestAsOf = -1;

  /**
   * Creates a holder.
   *
   * @param id identity of the Workload
   * @param localQueue the LocalQueue
   * @param priority the effective priority
   * @param queuedAt the position in the queue, as for a pending Workload
   * @param reservedAt the time of the reservation
   * @param pairs the numbers of the reserved pairs
   * @param amounts the reserved amount of each pair
   * @param evicted whether the Workload is being evicted, or its eviction is decided
   * @param evictable whether the Workload may be a preemption target
   * @param guaranteed whether the Workload is marked as not preemptible
   * @param topology what the Workload uses of nodes; null without places
   * @param protection what protects the Workload from preemption for some time
   */
  public QuotaHolder(
      WorkloadId id,
      LocalQueueId localQueue,
      long priority,
      Instant queuedAt,
      Instant reservedAt,
      int[] pairs,
      long[] amounts,
      boolean evicted,
      boolean evictable,
      boolean guaranteed,
      @Nullable TopologyUsage topology,
      PreemptionProtection protection) {
    this(
        id,
        localQueue,
        priority,
        Instants.micros(queuedAt),
        Instants.micros(reservedAt),
        pairs,
        amounts,
        evicted,
        evictable,
        guaranteed,
        topology,
        protection);
  }

  private QuotaHolder(
      WorkloadId id,
      LocalQueueId localQueue,
      long priority,
      long queuedAtMicros,
      long reservedAtMicros,
      int[] pairs,
      long[] amounts,
      boolean evicted,
      boolean evictable,
      boolean guaranteed,
      @Nullable TopologyUsage topology,
      PreemptionProtection protection) {
    this.id = id;
    this.localQueue = localQueue;
    this.priority = priority;
    this.queuedAtMicros = queuedAtMicros;
    this.reservedAtMicros = reservedAtMicros;
    this.lossSinceMicros = protection.lossSinceMicros(reservedAtMicros);
    this.uidPrefix = prefix(id.uid());
    this.pairs = pairs;
    this.amounts = amounts;
    this.evicted = evicted;
    this.evictable = evictable;
    this.guaranteed = guaranteed;
    this.topology = topology;
    this.protection = protection;
  }

  /** The holder as a value, without the Workload and what protects that. */
  public QuotaHolderExport export() {
    List<QuotaHolderExport.Reserved> reserved = new ArrayList<>(pairs.length);
    for (int i = 0; i < pairs.length; i++) {
      reserved.add(new QuotaHolderExport.Reserved(pairs[i], amounts[i]));
    }
    return new QuotaHolderExport(
        priority,
        Instants.ofMicros(queuedAtMicros),
        Instants.ofMicros(reservedAtMicros),
        reserved,
        evicted,
        evictable,
        guaranteed,
        Optional.ofNullable(topology).map(TopologyUsage::export));
  }

  /** The holder that a value stands for, in the LocalQueue of the Workload. */
  public static QuotaHolder restored(
      WorkloadId id,
      LocalQueueId localQueue,
      QuotaHolderExport exported,
      PreemptionProtection protection,
      TopologyCache places) {
    return new QuotaHolder(
        id,
        localQueue,
        exported.priority(),
        exported.queuedAt(),
        exported.reservedAt(),
        exported.reserved().stream().mapToInt(QuotaHolderExport.Reserved::pair).toArray(),
        exported.reserved().stream().mapToLong(QuotaHolderExport.Reserved::amount).toArray(),
        exported.evicted(),
        exported.evictable(),
        exported.guaranteed(),
        exported.places().map(places::restore).orElse(null),
        protection);
  }

  /** Characters in the order of {@link String#compareTo}; a missing one counts as the least. */
  private static long prefix(String uid) {
    long prefix = 0;
    for (int i = 0; i < 4; i++) {
      prefix = prefix << 16 | (i < uid.length() ? uid.charAt(i) : 0);
    }
    return prefix;
  }

  /** A holder that may be preempted and has no places. */
  public QuotaHolder(
      WorkloadId id,
      LocalQueueId localQueue,
      long priority,
      Instant queuedAt,
      Instant reservedAt,
      int[] pairs,
      long[] amounts,
      boolean evicted,
      boolean evictable) {
    this(
        id,
        localQueue,
        priority,
        queuedAt,
        reservedAt,
        pairs,
        amounts,
        evicted,
        evictable,
        false,
        null,
        PreemptionProtection.NONE);
  }

  /** The same holder, being evicted or not. */
  public QuotaHolder evicting(boolean evicting) {
    return new QuotaHolder(
        id,
        localQueue,
        priority,
        queuedAtMicros,
        reservedAtMicros,
        pairs,
        amounts,
        evicting,
        evictable,
        guaranteed,
        topology,
        protection);
  }

  /** The same holder with other amounts of the same pairs, and another usage of nodes. */
  public QuotaHolder withUsage(
      long[] others, @Nullable TopologyUsage places, boolean mayBeEvicted) {
    return new QuotaHolder(
        id,
        localQueue,
        priority,
        queuedAtMicros,
        reservedAtMicros,
        pairs,
        others,
        evicted,
        mayBeEvicted,
        guaranteed,
        places,
        protection);
  }

  /** Identity of the Workload. */
  public WorkloadId id() {
    return id;
  }

  /** The LocalQueue. */
  public LocalQueueId localQueue() {
    return localQueue;
  }

  /** The effective priority. */
  public long priority() {
    return priority;
  }

  /** The time since which the Workload was queued, in microseconds since the epoch. */
  public long queuedAtMicros() {
    return queuedAtMicros;
  }

  /** The time of the reservation, in microseconds since the epoch. */
  public long reservedAtMicros() {
    return reservedAtMicros;
  }

  /**
   * Since when work would be lost if the Workload were evicted, in microseconds since the epoch:
   * since its last checkpoint, or since it got its quota.
   */
  public long lossSinceMicros() {
    return lossSinceMicros;
  }

  /** Whether the Workload saved its work since it got its quota. */
  public boolean savesWork() {
    return lossSinceMicros > reservedAtMicros;
  }

  /** Whether the Workload is being evicted, or its eviction is decided. */
  public boolean evicted() {
    return evicted;
  }

  /** Whether the Workload may be a preemption target: somebody would stop its pods. */
  public boolean evictable() {
    return evictable;
  }

  /** What protects the Workload from preemption for some time. */
  public PreemptionProtection protection() {
    return protection;
  }

  /**
   * Until when the Workload is no target, in microseconds since the epoch; {@link Long#MIN_VALUE}
   * if nothing protects it. Who is being evicted is not protected.
   *
   * @param queueRules the rules of its ClusterQueue and of the Cohorts above
   * @param exempt whether its {@code minRunTime} doesn't matter to the preemptor
   */
  public long protectedUntilMicros(PreemptionRules queueRules, boolean exempt) {
    return evicted ? Long.MIN_VALUE : protection.untilMicros(queueRules, reservedAtMicros, exempt);
  }

  /** Whether {@link #removeUsage} removed the usage for the current decision. */
  public boolean usageRemoved() {
    return usageRemoved;
  }

  /** Number of reserved pairs. */
  public int size() {
    return pairs.length;
  }

  /** The number of the i-th pair. */
  public int pair(int i) {
    return pairs[i];
  }

  /** The reserved amount of the i-th pair. */
  public long amount(int i) {
    return amounts[i];
  }

  /** The reserved amount of the pair with this number; 0 if none is reserved. */
  public long amountOf(int pair) {
    for (int i = 0; i < pairs.length; i++) {
      if (pairs[i] == pair) {
        return amounts[i];
      }
    }
    return 0;
  }

  /** Whether the holder reserves an amount of one of these pairs. */
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

  /** Whether the Workload is marked as not preemptible. */
  public boolean guaranteed() {
    return guaranteed;
  }

  /** Adds the reserved amounts to the usage of guaranteed Workloads, of which this is one. */
  public void addGuaranteedTo(QuotaNode node) {
    for (int i = 0; i < pairs.length; i++) {
      node.addGuaranteed(pairs[i], amounts[i]);
    }
  }

  /** Undoes {@link #addGuaranteedTo}. */
  public void removeGuaranteedFrom(QuotaNode node) {
    for (int i = 0; i < pairs.length; i++) {
      node.removeGuaranteed(pairs[i], amounts[i]);
    }
  }

  /** Adds the reserved amounts to the usage of a node. */
  public void addTo(QuotaNode node) {
    for (int i = 0; i < pairs.length; i++) {
      node.add(pairs[i], amounts[i]);
    }
  }

  /**
   * Removes the reserved amounts from the quota tree for the current decision; {@link
   * #restoreUsage} must undo this.
   */
  public void removeUsage(ClusterQueueCache queue) {
    usageRemoved = true;
    for (int i = 0; i < pairs.length; i++) {
      queue.node().remove(pairs[i], amounts[i]);
    }
    if (topology != null) {
      topology.remove();
    }
  }

  /** Undoes {@link #removeUsage}. */
  public void restoreUsage(ClusterQueueCache queue) {
    usageRemoved = false;
    addTo(queue.node());
    if (topology != null) {
      topology.add();
    }
  }

  /** Whether preemption treats the other holder the same. */
  public boolean sameAs(QuotaHolder other) {
    return id.equals(other.id)
        && priority == other.priority
        && evicted == other.evicted
        && evictable == other.evictable
        && queuedAtMicros == other.queuedAtMicros
        && reservedAtMicros == other.reservedAtMicros
        && lossSinceMicros == other.lossSinceMicros
        && localQueue.equals(other.localQueue)
        && hasSameUsageAs(other);
  }

  /** What the Workload uses of nodes; null without places. */
  public @Nullable TopologyUsage topology() {
    return topology;
  }

  /** Whether the other holder reserves the same amounts of the same pairs and nodes. */
  public boolean hasSameUsageAs(QuotaHolder other) {
    return guaranteed == other.guaranteed
        && Arrays.equals(pairs, other.pairs)
        && Arrays.equals(amounts, other.amounts)
        && (topology == null
            ? other.topology == null
            : other.topology != null && topology.sameAs(other.topology));
  }

  /**
   * How long it has its quota at most, in microseconds.
   *
   * @param bounds the number of the last change of bounds, from 0 on
   * @param ofUid finds it out by the UID of the Workload
   */
  public long longest(int bounds, ToLongFunction<String> ofUid) {
    if (longestAsOf != bounds) {
      longest = ofUid.applyAsLong(id.uid());
      longestAsOf = bounds;
    }
    return longest;
  }

  /**
   * A {@link QuotaHolder} as a value (docs/engine-state.md), without the Workload.
   *
   * @param priority the effective priority
   * @param queuedAt the position in the queue, as for a pending Workload
   * @param reservedAt the time of the reservation
   * @param reserved the reserved amounts
   * @param evicted whether the Workload is being evicted, or its eviction is decided
   * @param evictable whether the Workload may be a preemption target
   * @param guaranteed whether the Workload is marked as not preemptible
   * @param places what the Workload uses of nodes; empty without places
   */
  public record QuotaHolderExport(
      long priority,
      Instant queuedAt,
      Instant reservedAt,
      List<Reserved> reserved,
      boolean evicted,
      boolean evictable,
      boolean guaranteed,
      Optional<TopologyExport.Usage> places) {

    public QuotaHolderExport {
      reserved = List.copyOf(reserved);
    }

    /** The amount of a pair, by the number of the pair. */
    public record Reserved(int pair, long amount) {}
  }
}
