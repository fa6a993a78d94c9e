package dev.sluice.quota;

import dev.sluice.model.Amounts;
import java.util.Arrays;

/** Computes shares, as usage stands. Confined to one thread. */
public final class FairShares {

  private static final long[] NOTHING = {};

  private final FlavorResources pairs;
  private long[] borrowed = NOTHING;

  /** Of trees whose pairs have these numbers. */
  public FairShares(FlavorResources pairs) {
    this.pairs = pairs;
  }

  /** The share of a node; none for a root. Cost: the pairs that are known. */
  public Share of(QuotaNode node) {
    QuotaNode parent = node.parent();
    if (parent == null || !gatherBorrowed(node)) {
      return Share.NONE;
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
    return new Share(most, of, node.weight(), true);
  }

  /** What it uses beyond its own, by resource; whether it does of any. */
  private boolean gatherBorrowed(QuotaNode node) {
    if (borrowed.length < pairs.resources()) {
      borrowed = new long[pairs.resources()];
    } else {
      Arrays.fill(borrowed, 0);
    }
    boolean any = false;
    for (int pair = 0; pair < pairs.count(); pair++) {
      long beyond = Amounts.subtract(node.usage(pair), node.subtreeQuota(pair));
      if (beyond > 0) {
        any = true;
        int resource = pairs.resource(pair);
        borrowed[resource] = Amounts.add(borrowed[resource], beyond);
      }
    }
    return any;
  }
}
