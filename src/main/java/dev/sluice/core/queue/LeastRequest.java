package dev.sluice.core.queue;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The least amounts that any of some classes asks a queue for.
 *
 * @param pairs the pairs of which all ask for some
 * @param amounts the least amount of each
 */
record LeastRequest(ClusterQueueCache queue, int[] pairs, long[] amounts) {

  /**
   * The least that these classes ask for; nothing, if they ask for different pairs, or any of them
   * has a choice.
   */
  static LeastRequest of(ClusterQueueCache queue, List<EquivalenceClass> classes) {
    long[] least = null;
    int[] pairs = {};
    for (EquivalenceClass each : classes) {
      ResourceDemand.Fixed request = each.demand(queue).fixed();
      if (request == null || (least != null && !Arrays.equals(pairs, request.pairs()))) {
        return new LeastRequest(queue, new int[0], new long[0]);
      }
      least = least(least, request.amounts());
      pairs = request.pairs();
    }
    return new LeastRequest(queue, pairs, least == null ? new long[0] : least);
  }

  private static long[] least(long @Nullable [] before, long[] amounts) {
    long[] least = amounts.clone();
    for (int i = 0; before != null && i < least.length; i++) {
      least[i] = Math.min(least[i], before[i]);
    }
    return least;
  }

  /** Whether all ask for more of a pair than is available to the queue. */
  boolean exceeds() {
    for (int i = 0; i < pairs.length; i++) {
      if (amounts[i] > queue.node().available(pairs[i])) {
        return true;
      }
    }
    return false;
  }
}
