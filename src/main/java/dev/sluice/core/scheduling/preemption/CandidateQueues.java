package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the queues that may have candidates: the preemptor's own queue, and queues of its cohort
 * tree that borrow a needed pair. Cohorts that don't borrow are skipped with all their members.
 */
final class CandidateQueues {

  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;
  private final PreemptionRequest preemptionRequest;
  private final List<CandidateQueue> found = new ArrayList<>();

  private CandidateQueues(
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      PreemptionRequest preemptionRequest) {
    this.queues = queues;
    this.preemptionRequest = preemptionRequest;
  }

  static List<CandidateQueue> of(
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      PreemptionRequest preemptionRequest) {
    CandidateQueues candidateQueues = new CandidateQueues(queues, preemptionRequest);
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    if (policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER) {
      candidateQueues.collectFromAncestors();
    }
    if (policies.withinClusterQueue() != WithinClusterQueue.NEVER) {
      candidateQueues.found.add(new CandidateQueue(preemptionRequest.queue(), null, false));
    }
    return candidateQueues.found;
  }

  /** Whether one of these queues has a holder of a needed pair that nobody can evict. */
  static boolean meetNotEvictable(
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      PreemptionRequest preemptionRequest) {
    for (CandidateQueue candidateQueue : of(queues, preemptionRequest)) {
      if (candidateQueue.queue().holders().anyNotEvictableUses(preemptionRequest.needed())) {
        return true;
      }
    }
    return false;
  }

  private void collectFromAncestors() {
    long[] remaining = preemptionRequest.amounts().clone();
    QuotaNode visited = preemptionRequest.queue().node();
    boolean advantage = canHold(visited, remaining);
    for (QuotaNode ancestor = visited.parent(); ancestor != null; ancestor = ancestor.parent()) {
      collect(ancestor, visited, ancestor, advantage);
      advantage |= canHold(ancestor, remaining);
      visited = ancestor;
    }
  }

  /** Whether a subtree can hold the request; subtracts its free local quota from the request. */
  private boolean canHold(QuotaNode node, long[] remaining) {
    boolean canHold = true;
    for (int i = 0; i < remaining.length; i++) {
      int pair = preemptionRequest.pairs()[i];
      canHold &= ResourceAmounts.add(node.usage(pair), remaining[i]) <= node.subtreeQuota(pair);
      remaining[i] -= Math.min(remaining[i], node.localAvailable(pair));
    }
    return canHold;
  }

  private void collect(QuotaNode cohort, QuotaNode visited, QuotaNode ancestor, boolean advantage) {
    cohort.forEachBorrower(
        child -> {
          if (child == visited || !preemptionRequest.isBorrowing(child)) {
            return;
          }
          if (!child.isQueue()) {
            collect(child, visited, ancestor, advantage);
            return;
          }
          ClusterQueueCache queue = queues.apply(child);
          if (queue != null && queue.holders().size() > 0) {
            found.add(new CandidateQueue(queue, ancestor, advantage));
          }
        });
  }
}
