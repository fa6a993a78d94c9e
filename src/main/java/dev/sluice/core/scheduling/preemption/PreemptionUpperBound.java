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
 * How much of a pair somebody could have at most once all were gone whom he may preempt: a bound
 * that is never too low, and costs no search. It holds for one tree as it stands; a new one is made
 * for each look.
 *
 * <p>Victims of the own queue count by priority. Those of others count only where some other queue
 * borrows, and either the request stays within the quota of the own queue or of a cohort below the
 * root (docs/scheduling-semantics.md#classical-preemption: hierarchical advantage, or without
 * borrowing), or borrowWithinCohort lets it borrow over lower priorities, or shares decide
 * (docs/scheduling-semantics.md#fair-sharing): then somebody beside must have as much as the own
 * queue would have, at least where all are beside it.
 */
public final class PreemptionUpperBound {

  /** What those hold who borrow, of one pair. */
  private record Lent(long amount, long lowestPriority) {}

  private final QuotaNode root;
  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;
  private final @Nullable FairShareCalculator shares;
  private @Nullable TopShares topShares;
  private @Nullable List<ClusterQueueCache> borrowers;
  private final Map<Integer, Lent> lent = new HashMap<>();

  /**
   * For a tree.
   *
   * @param queues the queue at a node of it; null if it isn't declared any more
   * @param shares their shares, if queues share by weight
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
   * Whether somebody may get this much, as far as the bound can tell.
   *
   * @param queue his queue
   * @param priority his effective priority
   * @param queuedAtMicros since when he queues
   */
  public boolean allows(
      ClusterQueueCache queue, int pair, long amount, long priority, long queuedAtMicros) {
    PreemptionPolicies policies = queue.spec().preemption();
    QuotaNode node = queue.node();
    long own = own(queue, pair, priority, queuedAtMicros);
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
    Lent others = lent(pair);
    if (below && others.lowestPriority >= priority) {
      return false;
    }
    boolean borrowing = policies.borrowWithinCohort() && others.lowestPriority < priority;
    return ResourceAmounts.add(reachable, others.amount) >= amount
        && (within || borrowing || sharesMayAllow(node, pair, amount, own));
  }

  /** Those directly below the root that have most, and next to most, of what is shared. */
  private record TopShares(
      @Nullable QuotaNode first, DominantResourceShare most, DominantResourceShare next) {}

  private boolean sharesMayAllow(QuotaNode node, int pair, long amount, long own) {
    if (shares == null || node.parent() != root) {
      return shares != null;
    }
    TopShares known = leaders(shares);
    DominantResourceShare beside = known.first == node ? known.next : known.most;
    long used = ResourceAmounts.add(ResourceAmounts.subtract(node.usage(pair), own), amount);
    return beside.borrowing() && beside.compareTo(shares.atLeast(node, pair, used)) >= 0;
  }

  private TopShares leaders(FairShareCalculator of) {
    TopShares known = topShares;
    if (known == null) {
      known = new TopShares(null, DominantResourceShare.NONE, DominantResourceShare.NONE);
      for (QuotaNode child : root.children()) {
        DominantResourceShare dominantResourceShare = of.of(child);
        if (known.first == null || dominantResourceShare.compareTo(known.most) > 0) {
          known = new TopShares(child, dominantResourceShare, known.most);
        } else if (dominantResourceShare.compareTo(known.next) > 0) {
          known = new TopShares(known.first, known.most, dominantResourceShare);
        }
      }
      topShares = known;
    }
    return known;
  }

  /** Whether a request may fit without borrowing once all victims of the own queue are gone. */
  static boolean staysWithinNominal(PreemptionRequest preemptionRequest) {
    ClusterQueueCache queue = preemptionRequest.queue();
    for (int i = 0; i < preemptionRequest.pairs().length; i++) {
      int pair = preemptionRequest.pairs()[i];
      long own = own(queue, pair, preemptionRequest.priority(), preemptionRequest.queuedAtMicros());
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

  private static long own(ClusterQueueCache queue, int pair, long priority, long queuedAtMicros) {
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

  /** Whether its queue, or a cohort above it that isn't the root, can hold the request. */
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

  private Lent lent(int pair) {
    return lent.computeIfAbsent(
        pair,
        any -> {
          long amount = 0;
          long lowest = Long.MAX_VALUE;
          for (ClusterQueueCache borrower : borrowers()) {
            long used = borrower.node().usage(pair);
            if (used > 0) {
              amount = ResourceAmounts.add(amount, used);
              lowest = Math.min(lowest, borrower.holders().lowestPriority());
            }
          }
          return new Lent(amount, lowest);
        });
  }

  /** Queues that use more than their quota of anything: victims may hold other pairs, too. */
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
