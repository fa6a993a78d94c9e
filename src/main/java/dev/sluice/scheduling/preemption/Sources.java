package dev.sluice.scheduling.preemption;

import dev.sluice.model.Amounts;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the queues that may have candidates: its own, and from its cohort up those that borrow what
 * is needed. Cohorts within their quota are skipped as a whole.
 */
final class Sources {

  private final Function<QuotaNode, @Nullable QueueState> queues;
  private final Preemptor preemptor;
  private final List<Source> found = new ArrayList<>();

  private Sources(Function<QuotaNode, @Nullable QueueState> queues, Preemptor preemptor) {
    this.queues = queues;
    this.preemptor = preemptor;
  }

  static List<Source> of(Function<QuotaNode, @Nullable QueueState> queues, Preemptor preemptor) {
    Sources sources = new Sources(queues, preemptor);
    PreemptionPolicies policies = preemptor.queue().spec().preemption();
    if (policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER) {
      sources.climb();
    }
    if (policies.withinClusterQueue() != WithinClusterQueue.NEVER) {
      sources.found.add(new Source(preemptor.queue(), null, false));
    }
    return sources.found;
  }

  private void climb() {
    long[] remaining = preemptor.amounts().clone();
    QuotaNode walked = preemptor.queue().node();
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
      int pair = preemptor.pairs()[i];
      holds &= Amounts.add(node.usage(pair), remaining[i]) <= node.subtreeQuota(pair);
      remaining[i] -= Math.min(remaining[i], node.localFree(pair));
    }
    return holds;
  }

  private void collect(QuotaNode cohort, QuotaNode walked, QuotaNode ancestor, boolean advantage) {
    for (QuotaNode child : cohort.children()) {
      if (child == walked || !preemptor.isBorrowing(child)) {
        continue;
      }
      if (!child.isQueue()) {
        collect(child, walked, ancestor, advantage);
        continue;
      }
      QueueState queue = queues.apply(child);
      if (queue != null && queue.holders().size() > 0) {
        found.add(new Source(queue, ancestor, advantage));
      }
    }
  }
}
