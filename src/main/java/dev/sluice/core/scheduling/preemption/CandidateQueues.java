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
 * Finds the queues that may have candidates: its own, and from its cohort up those that borrow what
 * is needed. Cohorts within their quota are skipped as a whole.
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
      candidateQueues.climb();
    }
    if (policies.withinClusterQueue() != WithinClusterQueue.NEVER) {
      candidateQueues.found.add(new CandidateQueue(preemptionRequest.queue(), null, false));
    }
    return candidateQueues.found;
  }

  private void climb() {
    long[] remaining = preemptionRequest.amounts().clone();
    QuotaNode walked = preemptionRequest.queue().node();
    boolean advantage = holds(walked, remaining);
    for (QuotaNode above = walked.parent(); above != null; above = above.parent()) {
      collect(above, walked, above, advantage);
      advantage |= holds(above, remaining);
      walked = above;
    }
  }

  /**
   * Whether a subtree has the quota for the request; takes off what it has free and never lends.
   */
  private boolean holds(QuotaNode node, long[] remaining) {
    boolean holds = true;
    for (int i = 0; i < remaining.length; i++) {
      int pair = preemptionRequest.pairs()[i];
      holds &= ResourceAmounts.add(node.usage(pair), remaining[i]) <= node.subtreeQuota(pair);
      remaining[i] -= Math.min(remaining[i], node.localAvailable(pair));
    }
    return holds;
  }

  private void collect(QuotaNode cohort, QuotaNode walked, QuotaNode ancestor, boolean advantage) {
    for (QuotaNode child : cohort.children()) {
      if (child == walked || !preemptionRequest.isBorrowing(child)) {
        continue;
      }
      if (!child.isQueue()) {
        collect(child, walked, ancestor, advantage);
        continue;
      }
      ClusterQueueCache queue = queues.apply(child);
      if (queue != null && queue.holders().size() > 0) {
        found.add(new CandidateQueue(queue, ancestor, advantage));
      }
    }
  }
}
