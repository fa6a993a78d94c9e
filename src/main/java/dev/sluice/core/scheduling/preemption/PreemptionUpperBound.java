package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An upper bound on the amount of a pair that a Workload could get if all Workloads were evicted
 * that it may preempt. The bound is never too low, and needs no search. It is valid for the current
 * usage of one tree; every use needs a new instance.
 *
 * <p>Targets in the own queue count by priority. Targets in other queues count only if another
 * queue borrows, and one of these conditions holds: the request stays within the quota of the own
 * queue or of a cohort below the root (docs/scheduling-semantics.md#classical-preemption:
 * hierarchical advantage, or without borrowing); borrowWithinCohort allows borrowing over lower
 * priorities; or shares decide (docs/scheduling-semantics.md#fair-sharing): then another queue must
 * have at least the share that the own queue would have, at least where all queues are children of
 * the root.
 */
public final class PreemptionUpperBound {

  /** The usage of borrowing queues of one pair, and the lowest priority of their holders. */
  private record BorrowerUsage(long amount, long lowestPriority) {}

  private final QuotaNode root;
  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;
  private final @Nullable FairShareCalculator shares;
  private @Nullable TopShares topShares;
  private @Nullable List<ClusterQueueCache> borrowers;
  private final Map<Integer, BorrowerUsage> borrowerUsage = new HashMap<>();

  /**
   * Creates a bound for one tree.
   *
   * @param queues the queue at a node of the tree; null if the queue was deleted
   * @param shares calculator of shares; null without fair sharing
   */
  public PreemptionUpperBound(
      QuotaNode root,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      @Nullable FairShareCalculator shares) {
    this.root = root;
    this.queues = queues;
    this.shares = shares;
  }

  /**
   * Whether a Workload may get this amount, as far as the bound shows.
   *
   * @param queue the Workload's queue
   * @param priority the Workload's effective priority
   * @param queuedAtMicros the time since which the Workload is queued
   */
  public boolean allows(
      ClusterQueueCache queue, int pair, long amount, long priority, long queuedAtMicros) {
    PreemptionPolicies policies = queue.spec().preemption();
    QuotaNode node = queue.node();
    long own = ownTargets(queue, pair, priority, queuedAtMicros);
    boolean within = staysWithin(node, pair, amount, own);
    if (node.nominal(pair) < amount && !within && !triesBorrowing(policies)) {
      return false;
    }
    long reachable = ResourceAmounts.add(node.available(pair), own);
    if (reachable >= amount) {
      return own > 0;
    }
    if (policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER) {
      return false;
    }
    boolean below = policies.reclaimWithinCohort() == ReclaimWithinCohort.LOWER_PRIORITY;
    BorrowerUsage others = borrowerUsage(pair);
    if (below && others.lowestPriority >= priority) {
      return false;
    }
    boolean borrowing = policies.borrowWithinCohort() && others.lowestPriority < priority;
    return ResourceAmounts.add(reachable, others.amount) >= amount
        && (within || borrowing || sharesMayAllow(node, pair, amount, own));
  }

  /** The children of the root with the highest and second highest share. */
  private record TopShares(
      @Nullable QuotaNode first, DominantResourceShare highest, DominantResourceShare second) {}

  private boolean sharesMayAllow(QuotaNode node, int pair, long amount, long own) {
    if (shares == null || node.parent() != root) {
      return shares != null;
    }
    TopShares known = topShares(shares);
    DominantResourceShare highestOther = known.first == node ? known.second : known.highest;
    long used = ResourceAmounts.add(ResourceAmounts.subtract(node.usage(pair), own), amount);
    return highestOther.borrowing()
        && highestOther.compareTo(shares.atLeast(node, pair, used)) >= 0;
  }

  private TopShares topShares(FairShareCalculator calculator) {
    TopShares known = topShares;
    if (known == null) {
      known = new TopShares(null, DominantResourceShare.NONE, DominantResourceShare.NONE);
      for (QuotaNode child : root.children()) {
        DominantResourceShare dominantResourceShare = calculator.of(child);
        if (known.first == null || dominantResourceShare.compareTo(known.highest) > 0) {
          known = new TopShares(child, dominantResourceShare, known.highest);
        } else if (dominantResourceShare.compareTo(known.second) > 0) {
          known = new TopShares(known.first, known.highest, dominantResourceShare);
        }
      }
      topShares = known;
    }
    return known;
  }

  /**
   * Whether a request may fit without borrowing after the eviction of all targets in its own queue.
   */
  static boolean staysWithinNominal(PreemptionRequest preemptionRequest) {
    ClusterQueueCache queue = preemptionRequest.queue();
    for (int i = 0; i < preemptionRequest.pairs().length; i++) {
      int pair = preemptionRequest.pairs()[i];
      long own =
          ownTargets(queue, pair, preemptionRequest.priority(), preemptionRequest.queuedAtMicros());
      long kept = ResourceAmounts.subtract(queue.node().usage(pair), own);
      if (ResourceAmounts.add(kept, preemptionRequest.amounts()[i]) > queue.node().nominal(pair)) {
        return false;
      }
    }
    return true;
  }

  private boolean triesBorrowing(PreemptionPolicies policies) {
    return policies.borrowWithinCohort()
        || (shares != null && policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER);
  }

  private static long ownTargets(
      ClusterQueueCache queue, int pair, long priority, long queuedAtMicros) {
    WithinClusterQueue policy = queue.spec().preemption().withinClusterQueue();
    if (policy == WithinClusterQueue.NEVER) {
      return 0;
    }
    long lower = queue.holders().amountBelow(priority, pair);
    return policy == WithinClusterQueue.LOWER_PRIORITY
        ? lower
        : ResourceAmounts.add(
            lower, queue.holders().amountOfNewerEquals(priority, pair, queuedAtMicros));
  }

  /** Whether the own queue, or an ancestor below the root, can hold the request. */
  private static boolean staysWithin(QuotaNode queue, int pair, long amount, long own) {
    long remaining = amount;
    for (QuotaNode node = queue; node.parent() != null; node = node.parent()) {
      long used = ResourceAmounts.subtract(node.usage(pair), own);
      if (ResourceAmounts.add(used, remaining) <= node.subtreeQuota(pair)) {
        return true;
      }
      remaining -= Math.min(remaining, ResourceAmounts.add(node.localAvailable(pair), own));
    }
    return queue.parent() == null;
  }

  private BorrowerUsage borrowerUsage(int pair) {
    return borrowerUsage.computeIfAbsent(
        pair,
        number -> {
          long amount = 0;
          long lowest = Long.MAX_VALUE;
          for (ClusterQueueCache borrower : borrowers()) {
            long used = borrower.node().usage(pair);
            if (used > 0) {
              amount = ResourceAmounts.add(amount, used);
              lowest = Math.min(lowest, borrower.holders().lowestPriority());
            }
          }
          return new BorrowerUsage(amount, lowest);
        });
  }

  /** Queues that borrow any pair: targets may reserve other pairs, too. */
  private List<ClusterQueueCache> borrowers() {
    List<ClusterQueueCache> known = borrowers;
    if (known == null) {
      known = new ArrayList<>();
      collect(root, known);
      borrowers = known;
    }
    return known;
  }

  private void collect(QuotaNode node, List<ClusterQueueCache> into) {
    ClusterQueueCache queue = node.isQueue() ? queues.apply(node) : null;
    if (queue != null && node.borrowsAnything()) {
      into.add(queue);
    }
    for (QuotaNode child : node.children()) {
      collect(child, into);
    }
  }
}
