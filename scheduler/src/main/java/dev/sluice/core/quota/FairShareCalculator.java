package dev.sluice.core.quota;

import dev.sluice.core.model.ResourceAmounts;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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
      known = compute(node, -1, 0);
      node.knownShare(known);
    }
    return known;
  }

  /** The highest shares among the children of a cohort, with its current usage. */
  public ShareRanking ranking(QuotaNode cohort) {
    ShareRanking known = cohort.knownRanking();
    if (known == null) {
      known = new ShareRanking(cohort, this);
      cohort.knownRanking(known);
    }
    return known;
  }

  /**
   * A bound on the share that a node has left when a Workload below it is evicted that reserves a
   * pair; null if no queue below that borrows has such a Workload.
   */
  public @Nullable DominantResourceShare highestWithout(
      QuotaNode node, int pair, ShareRanking.LeastReservations least) {
    return highestWithout(node, node, pair, least, null);
  }

  private @Nullable DominantResourceShare highestWithout(
      QuotaNode node,
      QuotaNode below,
      int pair,
      ShareRanking.LeastReservations least,
      @Nullable DominantResourceShare highest) {
    DominantResourceShare most = highest;
    if (below.isQueue()) {
      long amount = of(below).borrowing() ? least.of(below, pair) : 0;
      if (amount > 0) {
        DominantResourceShare share = without(node, below, pair, amount);
        most = most == null || share.compareTo(most) > 0 ? share : most;
      }
    }
    for (QuotaNode child : below.children) {
      most = highestWithout(node, child, pair, least, most);
    }
    return most;
  }

  /**
   * The share of a node if a queue below it used less of a pair; the share as it is where usage is
   * beyond the range of amounts.
   */
  public DominantResourceShare without(QuotaNode node, QuotaNode queue, int pair, long amount) {
    long less = amount;
    for (QuotaNode below = queue; below != node; below = below.parentOrSelf()) {
      long used = below.usage(pair);
      if (used == ResourceAmounts.UNLIMITED) {
        return of(node);
      }
      less = Math.min(less, Math.max(0, used - below.local(pair)));
    }
    return compute(node, pair, less);
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

  /** The share of a node that uses less of a pair than it does. */
  private DominantResourceShare compute(QuotaNode node, int lessOf, long less) {
    QuotaNode parent = node.parent();
    if (parent == null || !gatherBorrowed(node, lessOf, less)) {
      return DominantResourceShare.NONE;
    }
    long[] lendable = parent.lendable(pairs);
    long most = 0;
    long of = 1;
    for (int resource = 0; resource < Math.min(lendable.length, borrowed.length); resource++) {
      if (borrowed[resource] > 0
          && lendable[resource] > 0
          && DominantResourceShare.compareRatios(borrowed[resource], lendable[resource], most, of)
              > 0) {
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
  private boolean gatherBorrowed(QuotaNode node, int lessOf, long less) {
    if (borrowed.length < pairs.resources()) {
      borrowed = new long[pairs.resources()];
    } else {
      Arrays.fill(borrowed, 0);
    }
    boolean any = false;
    for (int pair = 0; pair < pairs.count(); pair++) {
      long used = node.usage(pair);
      if (pair == lessOf) {
        used = ResourceAmounts.subtract(used, less);
      }
      long beyond = ResourceAmounts.subtract(used, node.subtreeQuota(pair));
      if (beyond > 0) {
        any = true;
        int resource = pairs.resource(pair);
        borrowed[resource] = ResourceAmounts.add(borrowed[resource], beyond);
      }
    }
    return any;
  }
}
