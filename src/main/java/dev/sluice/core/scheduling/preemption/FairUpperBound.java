package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The upper bound of preemption by fair shares (docs/scheduling-semantics.md#fair-sharing): targets
 * in other queues count also if another child of the root has at least the share that the own queue
 * would have. The own queue's share is compared only where the queue is a child of the root.
 */
final class FairUpperBound extends ClassicalUpperBound {

  /** The children of the root with the highest and second highest share. */
  private record TopShares(
      @Nullable QuotaNode first, DominantResourceShare highest, DominantResourceShare second) {}

  private final QuotaNode root;
  private final FairShareCalculator shares;
  private @Nullable TopShares topShares;

  FairUpperBound(
      QuotaNode root,
      PreemptionStrategy strategy,
      FairShareCalculator shares,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    super(root, strategy, queues);
    this.root = root;
    this.shares = shares;
  }

  @Override
  boolean mayReclaimOtherwise(QuotaNode node, int pair, long amount, long own) {
    if (node.parent() != root) {
      return true;
    }
    TopShares known = topShares();
    DominantResourceShare highestOther = known.first == node ? known.second : known.highest;
    long used = ResourceAmounts.add(ResourceAmounts.subtract(node.usage(pair), own), amount);
    return highestOther.borrowing()
        && highestOther.compareTo(shares.atLeast(node, pair, used)) >= 0;
  }

  private TopShares topShares() {
    TopShares known = topShares;
    if (known == null) {
      known = new TopShares(null, DominantResourceShare.NONE, DominantResourceShare.NONE);
      for (QuotaNode child : root.children()) {
        DominantResourceShare share = shares.of(child);
        if (known.first == null || share.compareTo(known.highest) > 0) {
          known = new TopShares(child, share, known.highest);
        } else if (share.compareTo(known.second) > 0) {
          known = new TopShares(known.first, known.highest, share);
        }
      }
      topShares = known;
    }
    return known;
  }
}
