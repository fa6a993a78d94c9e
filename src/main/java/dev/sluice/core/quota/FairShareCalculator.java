package dev.sluice.core.quota;

import dev.sluice.core.model.ResourceAmounts;
import java.util.Arrays;

/** Computes shares from the current usage. Confined to one thread. */
public final class FairShareCalculator {

  private static final long[] NOTHING = {};

  private final FlavorResourceIndex pairs;
  private long[] borrowed = NOTHING;

  /** A calculator for trees whose pairs have these numbers. */
  public FairShareCalculator(FlavorResourceIndex pairs) {
    this.pairs = pairs;
  }

  /**
   * The share of a node; {@link DominantResourceShare#NONE} for a root. Cost: proportional to the
   * number of pairs, if usage changed since the last call.
   */
  public DominantResourceShare of(QuotaNode node) {
    DominantResourceShare known = node.knownShare();
    if (known == null) {
      known = compute(node);
      node.knownShare(known);
    }
    return known;
  }

  /**
   * A lower bound on the share of a node that uses this amount of a pair, whatever else it uses.
   *
   * @param used the used amount of the pair
   */
  public DominantResourceShare atLeast(QuotaNode node, int pair, long used) {
    QuotaNode parent = node.parent();
    long beyond = ResourceAmounts.subtract(used, node.subtreeQuota(pair));
    if (parent == null || beyond <= 0) {
      return DominantResourceShare.NONE;
    }
    long[] lendable = parent.lendable(pairs);
    int resource = pairs.resource(pair);
    return resource < lendable.length && lendable[resource] > 0
        ? new DominantResourceShare(beyond, lendable[resource], node.weight(), true)
        : DominantResourceShare.NONE;
  }

  private DominantResourceShare compute(QuotaNode node) {
    QuotaNode parent = node.parent();
    if (parent == null || !gatherBorrowed(node)) {
      return DominantResourceShare.NONE;
    }
    long[] lendable = parent.lendable(pairs);
    long most = 0;
    long of = 1;
    for (int resource = 0; resource < Math.min(lendable.length, borrowed.length); resource++) {
      if (borrowed[resource] > 0
          && lendable[resource] > 0
          && (double) borrowed[resource] / lendable[resource] > (double) most / of) {
        most = borrowed[resource];
        of = lendable[resource];
      }
    }
    return new DominantResourceShare(most, of, node.weight(), true);
  }

  /**
   * Computes the usage beyond the own quota by resource; returns whether any resource has such
   * usage.
   */
  private boolean gatherBorrowed(QuotaNode node) {
    if (borrowed.length < pairs.resources()) {
      borrowed = new long[pairs.resources()];
    } else {
      Arrays.fill(borrowed, 0);
    }
    boolean any = false;
    for (int pair = 0; pair < pairs.count(); pair++) {
      long beyond = ResourceAmounts.subtract(node.usage(pair), node.subtreeQuota(pair));
      if (beyond > 0) {
        any = true;
        int resource = pairs.resource(pair);
        borrowed[resource] = ResourceAmounts.add(borrowed[resource], beyond);
      }
    }
    return any;
  }
}
