package dev.sluice.core.engine;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyUsage;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Quota that is reserved for a Workload.
 *
 * @param clusterQueue the ClusterQueue whose quota is reserved
 * @param quotaHolder the Workload and the reserved amounts
 * @param admitted whether the Workload is admitted
 * @param awaitsPods whether admission of other Workloads waits for the pods: the Workload is
 *     admitted, or about to be, and its pods were not reported ready
 * @param granted what was granted to a slice of an elastic job, of which the quota holder may hold
 *     a part; null for other Workloads
 */
record Reservation(
    String clusterQueue,
    QuotaHolder quotaHolder,
    boolean admitted,
    boolean awaitsPods,
    @Nullable Granted granted) {

  /** What was granted to a slice, in whole. */
  record Granted(QuotaHolder quotaHolder, List<PodSetAssignment> podSets) {}

  /**
   * The reservation that the API server reports.
   *
   * @param evicting whether the eviction was decided, even if the API server doesn't report it yet
   */
  static Reservation of(
      ReservingWorkload workload,
      boolean evicting,
      FlavorResourceIndex numbers,
      TopologyCache topologies) {
    Sums sums = Sums.of(workload.podSets(), numbers);
    QuotaHolder quotaHolder =
        new QuotaHolder(
            workload.id(),
            workload.localQueue(),
            workload.priority(),
            workload.queuedAt(),
            workload.reservedAt(),
            sums.pairs,
            sums.amounts,
            evicting || workload.evicted(),
            workload.evictable(),
            workload.guaranteed(),
            topologies.usage(workload.podSets()),
            workload.protection());
    return new Reservation(
        workload.clusterQueue(),
        quotaHolder,
        workload.admitted(),
        workload.admitted() && !workload.podsReady(),
        workload.slice().isEmpty() ? null : new Granted(quotaHolder, workload.podSets()));
  }

  /** The reservation that a cycle decided. */
  static Reservation decided(
      QueuedWorkload item,
      String clusterQueue,
      List<PodSetAssignment> podSets,
      Instant now,
      FlavorResourceIndex numbers,
      TopologyCache topologies) {
    Sums sums = Sums.of(podSets, numbers);
    QuotaHolder quotaHolder =
        new QuotaHolder(
            item.id(),
            item.localQueue(),
            item.equivalenceClass().priority(),
            item.queuedAt(),
            now,
            sums.pairs,
            sums.amounts,
            false,
            item.evictable(),
            item.equivalenceClass().shape().guaranteed(),
            topologies.usage(podSets),
            new PreemptionProtection(
                item.equivalenceClass().shape().preemption(), item.history().reserving()));
    return new Reservation(
        clusterQueue,
        quotaHolder,
        false,
        true,
        item.equivalenceClass().shape().slice().isEmpty()
            ? null
            : new Granted(quotaHolder, podSets));
  }

  /** Whether a slice was granted other amounts before, even if it is charged the same. */
  boolean isScaledSince(Reservation before) {
    return granted != null
        && before.granted != null
        && !granted.quotaHolder.hasSameUsageAs(before.granted.quotaHolder);
  }

  /** The reservation as a value. */
  WorkloadExport.ReservationExport export() {
    return new WorkloadExport.ReservationExport(
        clusterQueue,
        quotaHolder.export(),
        admitted,
        awaitsPods,
        quotaHolder.protection(),
        Optional.ofNullable(granted)
            .map(
                whole ->
                    new WorkloadExport.GrantedExport(
                        whole.quotaHolder().export(), whole.podSets())));
  }

  /** The reservation that a value stands for. */
  static Reservation restored(
      WorkloadId id,
      LocalQueueId localQueue,
      WorkloadExport.ReservationExport exported,
      TopologyCache topologies) {
    return new Reservation(
        exported.clusterQueue(),
        QuotaHolder.restored(id, localQueue, exported.holder(), exported.protection(), topologies),
        exported.admitted(),
        exported.awaitsPods(),
        exported
            .granted()
            .map(
                whole ->
                    new Granted(
                        QuotaHolder.restored(
                            id, localQueue, whole.holder(), exported.protection(), topologies),
                        whole.podSets()))
            .orElse(null));
  }

  /**
   * The reserved amounts by pair, in the order of the pairs' numbers. A negative amount, which only
   * a status that nobody checked can contain, counts as 0: otherwise other Workloads could use more
   * than the quota.
   */
  private static final class Sums {
    private int[] pairs = new int[2];
    private long[] amounts = new long[2];
    private int size;

    static Sums of(List<PodSetAssignment> podSets, FlavorResourceIndex numbers) {
      Sums sums = new Sums();
      for (PodSetAssignment podSet : podSets) {
        for (Map.Entry<String, Long> used : podSet.usage().entrySet()) {
          String flavor = podSet.flavors().get(used.getKey());
          if (flavor != null) {
            sums.add(numbers.number(flavor, used.getKey()), Math.max(0, used.getValue()));
          }
        }
      }
      sums.pairs = Arrays.copyOf(sums.pairs, sums.size);
      sums.amounts = Arrays.copyOf(sums.amounts, sums.size);
      return sums;
    }

    private void add(int pair, long amount) {
      int at = Arrays.binarySearch(pairs, 0, size, pair);
      if (at >= 0) {
        amounts[at] = ResourceAmounts.add(amounts[at], amount);
        return;
      }
      if (size == pairs.length) {
        pairs = Arrays.copyOf(pairs, 2 * size);
        amounts = Arrays.copyOf(amounts, 2 * size);
      }
      int index = -at - 1;
      System.arraycopy(pairs, index, pairs, index + 1, size - index);
      System.arraycopy(amounts, index, amounts, index + 1, size - index);
      pairs[index] = pair;
      amounts[index] = amount;
      size++;
    }
  }

  /** The same reservation of an admitted Workload. */
  Reservation asAdmitted() {
    return new Reservation(clusterQueue, quotaHolder, true, awaitsPods, granted);
  }

  /** The same reservation of a Workload that is not admitted yet and therefore has no pods. */
  Reservation withoutPods() {
    return new Reservation(clusterQueue, quotaHolder, false, false, granted);
  }

  /** The same reservation with its eviction decided, or not. */
  Reservation evicting(boolean evicting) {
    return new Reservation(
        clusterQueue, quotaHolder.evicting(evicting), admitted, awaitsPods, granted);
  }

  /** What is reserved for the pod sets; empty unless the Workload is a slice. */
  List<PodSetAssignment> podSets() {
    return granted == null ? List.of() : granted.podSets();
  }

  /**
   * The same reservation of a slice, with what is charged for it.
   *
   * @param replaced the reservation of the slice that it replaces, which is charged for its part;
   *     null if there is none
   * @param succeeded whether its replacement is admitted: its eviction would release nothing
   */
  Reservation charged(@Nullable Reservation replaced, boolean succeeded) {
    if (granted == null) {
      return this;
    }
    QuotaHolder whole = granted.quotaHolder();
    Granted other =
        replaced != null && replaced.clusterQueue().equals(clusterQueue)
            ? replaced.granted()
            : null;
    long[] amounts = new long[whole.size()];
    for (int i = 0; i < amounts.length; i++) {
      long held = other == null ? 0 : other.quotaHolder().amountOf(whole.pair(i));
      amounts[i] = Math.max(0, whole.amount(i) - held);
    }
    TopologyUsage places =
        TopologyUsage.beyond(
            whole.topology(), other == null ? null : other.quotaHolder().topology());
    return new Reservation(
        clusterQueue,
        whole
            .evicting(quotaHolder.evicted())
            .withUsage(amounts, places, whole.evictable() && !succeeded),
        admitted,
        awaitsPods,
        granted);
  }

  boolean sameUsageAs(Reservation other) {
    return clusterQueue.equals(other.clusterQueue) && quotaHolder.hasSameUsageAs(other.quotaHolder);
  }
}
