package dev.sluice.core.waiting;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.ClusterQueueInadmissibleIndex.Requirement;
import java.util.Arrays;

/**
 * The least amount of each pair that any inadmissible class of one tree misses: while the root has
 * less of every pair, no class may fit, and no queue needs to be looked at.
 */
final class LeastMissing {

  private static final long NOTHING = Long.MAX_VALUE;

  /** By the number of the pair; {@link #NOTHING} where no class misses any. */
  private long[] least = {};

  /** The most that any of the queues could get without the root's quota. */
  private long[] local = {};

  /** Whether any release may make a class fit. */
  private boolean competes;

  /** Whether targets may make a class fit. */
  private boolean preempts;

  /** Adds what a class of a queue misses. */
  void add(QuotaNode queue, Requirement requirement) {
    competes |= requirement.competing();
    preempts |= requirement.preempts();
    for (EquivalenceClass.Shortage shortage : requirement.shortages()) {
      int pair = shortage.pair();
      if (pair >= least.length) {
        int before = least.length;
        least = Arrays.copyOf(least, pair + 1);
        local = Arrays.copyOf(local, pair + 1);
        Arrays.fill(least, before, pair + 1, NOTHING);
      }
      least[pair] = Math.min(least[pair], shortage.amount());
      local[pair] = Math.max(local[pair], local(queue, pair));
    }
  }

  private static long local(QuotaNode queue, int pair) {
    long sum = 0;
    QuotaNode node = queue;
    for (QuotaNode above = node.parent(); above != null; above = node.parent()) {
      sum = ResourceAmounts.add(sum, node.local(pair));
      node = above;
    }
    return sum;
  }

  /** Whether targets may make a class fit, so that the quota of the root shows nothing. */
  boolean preempts() {
    return preempts;
  }

  /** Whether a class may fit, as far as the quota of the root shows. */
  boolean mayBeAvailable(QuotaNode root) {
    if (preempts || competes) {
      return true;
    }
    for (int pair = 0; pair < least.length; pair++) {
      if (least[pair] <= ResourceAmounts.add(local[pair], Math.max(0, root.available(pair)))) {
        return true;
      }
    }
    return false;
  }
}
