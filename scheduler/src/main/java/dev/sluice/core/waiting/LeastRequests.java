package dev.sluice.core.waiting;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ResourceDemand;
import dev.sluice.core.quota.QuotaNode;
import java.util.Arrays;

/**
 * The least amount of each pair that any of some requests in one tree asks for. When the root has
 * less of a pair that all of them ask for, none of them fits, and none needs to be looked at.
 */
final class LeastRequests {

  private int requests;
  private int[] askedBy = {};
  private long[] least = {};

  /** The greatest amount that any of the queues may still get without the root's quota. */
  private long[] local = {};

  /** Adds a request of a queue; the usage of the queue only grows afterwards. */
  void add(QuotaNode queue, ResourceDemand.Fixed request) {
    requests++;
    for (int i = 0; i < request.pairs().length; i++) {
      int pair = request.pairs()[i];
      if (pair >= askedBy.length) {
        askedBy = Arrays.copyOf(askedBy, pair + 1);
        least = Arrays.copyOf(least, pair + 1);
        local = Arrays.copyOf(local, pair + 1);
      }
      least[pair] =
          askedBy[pair] == 0 ? request.amounts()[i] : Math.min(least[pair], request.amounts()[i]);
      local[pair] = Math.max(local[pair], localAvailable(queue, pair));
      askedBy[pair]++;
    }
  }

  private static long localAvailable(QuotaNode queue, int pair) {
    long sum = 0;
    QuotaNode node = queue;
    for (QuotaNode above = node.parent(); above != null; above = node.parent()) {
      sum = ResourceAmounts.add(sum, node.localAvailable(pair));
      node = above;
    }
    return sum;
  }

  /**
   * Whether none of the requests fits: what is available to a queue is at most what it and its
   * cohorts below the root have for themselves, and what the root has.
   */
  boolean exceed(QuotaNode root) {
    for (int pair = 0; pair < least.length; pair++) {
      if (askedBy[pair] == requests
          && least[pair] > ResourceAmounts.add(local[pair], Math.max(0, root.available(pair)))) {
        return true;
      }
    }
    return false;
  }
}
