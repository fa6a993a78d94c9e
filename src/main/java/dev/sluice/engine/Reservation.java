package dev.sluice.engine;

import dev.sluice.model.Amounts;
import dev.sluice.model.PodSetAssignment;
import dev.sluice.model.ReservingWorkload;
import dev.sluice.queue.Holder;
import dev.sluice.queue.PendingItem;
import dev.sluice.quota.FlavorResources;
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
record Reservation(String clusterQueue, Holder holder, boolean admitted, boolean awaitsPods) {

  /**
   * What the API server says.
   *
   * @param evicting whether its eviction was decided, even if the API server doesn't say so yet
   */
  static Reservation of(ReservingWorkload workload, boolean evicting, FlavorResources numbers) {
    Map<Integer, Long> sums = sums(workload.podSets(), numbers);
    Holder holder =
        new Holder(
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
        holder,
        workload.admitted(),
        workload.admitted() && !workload.podsReady());
  }

  /** What was just decided. */
  static Reservation decided(
      PendingItem item,
      String clusterQueue,
      List<PodSetAssignment> podSets,
      Instant now,
      FlavorResources numbers) {
    Map<Integer, Long> sums = sums(podSets, numbers);
    Holder holder =
        new Holder(
            item.id(),
            item.localQueue(),
            item.equivalenceClass().priority(),
            item.queuedAt(),
            now,
            pairs(sums),
            amounts(sums),
            false);
    return new Reservation(clusterQueue, holder, false, true);
  }

  private static Map<Integer, Long> sums(List<PodSetAssignment> podSets, FlavorResources numbers) {
    Map<Integer, Long> sums = new TreeMap<>();
    for (PodSetAssignment podSet : podSets) {
      podSet
          .usage()
          .forEach(
              (resource, amount) -> {
                String flavor = podSet.flavors().get(resource);
                if (flavor != null) {
                  sums.merge(numbers.number(flavor, resource), amount, Amounts::add);
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
    return new Reservation(clusterQueue, holder, true, awaitsPods);
  }

  /** The same when the Workload isn't admitted yet, so that it has no pods. */
  Reservation withoutPods() {
    return new Reservation(clusterQueue, holder, false, false);
  }

  /** The same with its eviction decided, or not. */
  Reservation evicting(boolean evicting) {
    return new Reservation(clusterQueue, holder.evicting(evicting), admitted, awaitsPods);
  }

  boolean sameUsageAs(Reservation other) {
    return clusterQueue.equals(other.clusterQueue) && holder.holdsTheSameAs(other.holder);
  }
}
