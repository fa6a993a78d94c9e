package dev.sluice.engine;

import dev.sluice.model.Amounts;
import dev.sluice.model.PodSetAssignment;
import dev.sluice.model.ReservingWorkload;
import dev.sluice.quota.FlavorResources;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Quota that a Workload holds.
 *
 * @param clusterQueue of which queue
 * @param pairs the pairs, by number
 * @param amounts how much of each
 * @param admitted whether the Workload is admitted
 */
record Reservation(String clusterQueue, int[] pairs, long[] amounts, boolean admitted) {

  static Reservation of(ReservingWorkload workload, FlavorResources numbers) {
    return of(workload.clusterQueue(), workload.podSets(), workload.admitted(), numbers);
  }

  static Reservation of(
      String clusterQueue,
      List<PodSetAssignment> podSets,
      boolean admitted,
      FlavorResources numbers) {
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
    int[] pairs = new int[sums.size()];
    long[] amounts = new long[sums.size()];
    int i = 0;
    for (Map.Entry<Integer, Long> sum : sums.entrySet()) {
      pairs[i] = sum.getKey();
      amounts[i++] = sum.getValue();
    }
    return new Reservation(clusterQueue, pairs, amounts, admitted);
  }

  boolean sameUsageAs(Reservation other) {
    return clusterQueue.equals(other.clusterQueue)
        && Arrays.equals(pairs, other.pairs)
        && Arrays.equals(amounts, other.amounts);
  }

  long amountOf(int pair) {
    for (int i = 0; i < pairs.length; i++) {
      if (pairs[i] == pair) {
        return amounts[i];
      }
    }
    return 0;
  }
}
