package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.PreemptionUpperBound;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The upper bound of preemption by priority: the amount of a pair that a Workload could get if all
 * Workloads were evicted that it may preempt. The bound needs no search.
 *
 * <p>Targets in the own queue count by priority. Targets in other queues count only if another
 * queue borrows, and one of these conditions holds: the request stays within the quota of the own
 * queue or of a cohort below the root (docs/scheduling-semantics.md#classical-preemption:
 * hierarchical advantage, or without borrowing), or borrowWithinCohort allows borrowing over lower
 * priorities, or {@link #mayReclaimOtherwise} finds another reason.
 */
class ClassicalUpperBound implements PreemptionUpperBound {

  /** The usage of borrowing queues of one pair, and the lowest priority of their holders. */
  private record BorrowerUsage(long amount, long lowestPriority) {}

  private final QuotaNode root;
  private final PreemptionStrategy strategy;
  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;
  private @Nullable List<ClusterQueueCache> borrowers;
  private final Map<Integer, BorrowerUsage> borrowerUsage = new HashMap<>();

  /**
   * Creates a bound for one tree.
   *
   * @param strategy the strategy whose targets are bounded
   * @param queues the queue at a node of the tree; null if the queue was deleted
   */
  ClassicalUpperBound(
      QuotaNode root,
      PreemptionStrategy strategy,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    this.root = root;
    this.strategy = strategy;
    this.queues = queues;
  }

  @Override
  public boolean allows(
      ClusterQueueCache queue, int pair, long amount, long priority, long queuedAtMicros) {
    if (queue.spec().rules().preemptionConfig().isPresent()) {
      return true; // its candidates are known to a search alone
    }
    PreemptionPolicies policies = queue.spec().preemption();
    QuotaNode node = queue.node();
    long own = ownTargets(queue, pair, priority, queuedAtMicros);
    boolean within = staysWithin(node, pair, amount, own);
    if (node.nominal(pair) < amount && !within && !strategy.mayPreemptBorrowing(queue)) {
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
        && (within || borrowing || mayReclaimOtherwise(node, pair, amount, own));
  }

  /**
   * Whether targets in other queues count for a request that borrows, whatever the priorities;
   * false in the classical policy.
   *
   * @param own the amount that targets in the own queue reserve
   */
  boolean mayReclaimOtherwise(QuotaNode node, int pair, long amount, long own) {
    return false;
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
      List<ClusterQueueCache> found = new ArrayList<>();
      if (root.isQueue() && root.borrowsAnything()) {
        add(root, found);
      }
      collect(root, found);
      known = found;
      borrowers = known;
    }
    return known;
  }

  private void collect(QuotaNode cohort, List<ClusterQueueCache> into) {
    cohort.forEachBorrower(child -> add(child, into));
    for (QuotaNode child : cohort.cohorts()) {
      collect(child, into);
    }
  }

  private void add(QuotaNode node, List<ClusterQueueCache> into) {
    ClusterQueueCache queue = node.isQueue() ? queues.apply(node) : null;
    if (queue != null) {
      into.add(queue);
    }
  }
}
