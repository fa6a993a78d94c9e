package dev.sluice.core.engine;

import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.FlavorResourceIndex;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Quota that a Workload holds.
 *
 * @param clusterQueue of which queue
 * @param holder who holds how much
 * @param admitted whether the Workload is admitted
 * @param awaitsPods whether its pods have to get ready: it is admitted, or about to be, and nobody
 *     said that they are
 */
record Reservation(
    String clusterQueue, QuotaHolder quotaHolder, boolean admitted, boolean awaitsPods) {

  /**
   * What the API server says.
   *
   * @param evicting whether its eviction was decided, even if the API server doesn't say so yet
   */
  static Reservation of(ReservingWorkload workload, boolean evicting, FlavorResourceIndex numbers) {
    Map<Integer, Long> sums = sums(workload.podSets(), numbers);
    QuotaHolder quotaHolder =
        new QuotaHolder(
            workload.id(),
            workload.localQueue(),
            workload.priority(),
            workload.queuedAt(),
            workload.reservedAt(),
            pairs(sums),
            amounts(sums),
            evicting || workload.evicted());
    return new Reservation(
        workload.clusterQueue(),
        quotaHolder,
        workload.admitted(),
        workload.admitted() && !workload.podsReady());
  }

  /** What was just decided. */
  static Reservation decided(
      QueuedWorkload item,
      String clusterQueue,
      List<PodSetAssignment> podSets,
      Instant now,
      FlavorResourceIndex numbers) {
    Map<Integer, Long> sums = sums(podSets, numbers);
    QuotaHolder quotaHolder =
        new QuotaHolder(
            item.id(),
            item.localQueue(),
            item.equivalenceClass().priority(),
            item.queuedAt(),
            now,
            pairs(sums),
            amounts(sums),
            false);
    return new Reservation(clusterQueue, quotaHolder, false, true);
  }

  private static Map<Integer, Long> sums(
      List<PodSetAssignment> podSets, FlavorResourceIndex numbers) {
    Map<Integer, Long> sums = new TreeMap<>();
    for (PodSetAssignment podSet : podSets) {
      podSet
          .usage()
          .forEach(
              (resource, amount) -> {
                String flavor = podSet.flavors().get(resource);
                if (flavor != null) {
                  sums.merge(numbers.number(flavor, resource), amount, ResourceAmounts::add);
                }
              });
    }
    return sums;
  }

  private static int[] pairs(Map<Integer, Long> sums) {
    return sums.keySet().stream().mapToInt(Integer::intValue).toArray();
  }

  private static long[] amounts(Map<Integer, Long> sums) {
    return sums.values().stream().mapToLong(Long::longValue).toArray();
  }

  /** The same when the Workload is admitted. */
  Reservation asAdmitted() {
    return new Reservation(clusterQueue, quotaHolder, true, awaitsPods);
  }

  /** The same when the Workload isn't admitted yet, so that it has no pods. */
  Reservation withoutPods() {
    return new Reservation(clusterQueue, quotaHolder, false, false);
  }

  /** The same with its eviction decided, or not. */
  Reservation evicting(boolean evicting) {
    return new Reservation(clusterQueue, quotaHolder.evicting(evicting), admitted, awaitsPods);
  }

  boolean sameUsageAs(Reservation other) {
    return clusterQueue.equals(other.clusterQueue) && quotaHolder.hasSameUsageAs(other.quotaHolder);
  }
}
