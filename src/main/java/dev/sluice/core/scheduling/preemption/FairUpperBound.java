package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The upper bound of preemption by fair shares (docs/scheduling-semantics.md#fair-sharing): targets
 * in other queues count also if the share of another child of the root may allow one, with the
 * share that the own queue would have. The own queue's share is compared only where the queue is a
 * child of the root.
 *
 * <p>Why this is never too low: without any target in another queue that reserves the pair, the
 * missing amount doesn't become free. When that target is taken, the own queue has at least the
 * share compared here, which assumes that all targets of the own queue are gone, and counts one
 * pair only; and the other child has at most the share it has now.
 */
final class FairUpperBound extends ClassicalUpperBound {

  private final QuotaNode root;
  private final FairPreemption strategy;
  private final FairShareCalculator shares;

  FairUpperBound(
      QuotaNode root,
      FairPreemption strategy,
      FairShareCalculator shares,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    super(root, strategy, queues);
    this.root = root;
    this.strategy = strategy;
    this.shares = shares;
  }

  @Override
  boolean mayReclaimOtherwise(QuotaNode node, int pair, long amount, long own) {
    if (node.parent() != root) {
      return true;
    }
    long used = ResourceAmounts.add(ResourceAmounts.subtract(node.usage(pair), own), amount);
    return strategy.mayAllowAny(
        shares.ranking(root), node, shares.atLeast(node, pair, used), new int[] {pair});
  }
}
