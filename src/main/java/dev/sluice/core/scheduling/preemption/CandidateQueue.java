package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.PreemptionReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import java.util.Collections;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A queue that candidates come from, and what the preemptor's policies allow of it.
 *
 * @param queue the queue
 * @param below the node above which the preemptor's side begins: the common ancestor; null for the
 *     preemptor's own queue
 * @param hierarchical whether the preemptor has the hierarchical advantage over it
 */
record CandidateQueue(ClusterQueueCache queue, @Nullable QuotaNode below, boolean hierarchical) {

  /** Three lists, in the order in which their candidates are taken. */
  enum Kind {
    HIERARCHICAL,
    OTHER,
    OWN
  }

  Kind kind() {
    if (below == null) {
      return Kind.OWN;
    }
    return hierarchical ? Kind.HIERARCHICAL : Kind.OTHER;
  }

  /** Whether the queue, and every cohort between it and the common ancestor, still borrows. */
  boolean stillBorrows(PreemptionRequest preemptionRequest) {
    for (QuotaNode node = queue.node(); node != null && node != below; node = node.parent()) {
      if (!preemptionRequest.isBorrowing(node)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Candidates among those being evicted, or among the others; first victim first.
   *
   * @param borrowing whether those are left out who may be taken only as long as the preemptor
   *     doesn't borrow
   */
  Cursor candidates(PreemptionRequest preemptionRequest, boolean evicted, boolean borrowing) {
    return new Cursor(this, preemptionRequest, evicted, borrowing);
  }

  boolean hasCandidates(PreemptionRequest preemptionRequest) {
    return hasCandidates(preemptionRequest, true) || hasCandidates(preemptionRequest, false);
  }

  private boolean hasCandidates(PreemptionRequest preemptionRequest, boolean evicted) {
    return mayHave(preemptionRequest, evicted, false)
        && candidates(preemptionRequest, evicted, false).current() != null;
  }

  /** Whether {@link #candidates} can have any, as far as one look at all holders tells. */
  boolean mayHave(PreemptionRequest preemptionRequest, boolean evicted, boolean borrowing) {
    if (queue.holders().isEmpty(evicted)) {
      return false;
    }
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    long lowest = queue.holders().lowestPriority();
    return switch (kind()) {
      case OWN -> lowest <= preemptionRequest.priority();
      case HIERARCHICAL ->
          policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY
              || lowest < preemptionRequest.priority();
      case OTHER ->
          lowest < preemptionRequest.priority()
              ? !borrowing || policies.borrowWithinCohort()
              : !borrowing && policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY;
    };
  }

  PreemptionReason reason(PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    if (kind() == Kind.OWN) {
      return PreemptionReason.IN_CLUSTER_QUEUE;
    }
    return whileBorrowing(preemptionRequest, quotaHolder)
        ? PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
        : PreemptionReason.IN_COHORT_RECLAMATION;
  }

  /**
   * Whether it may be taken only as long as the preemptor doesn't borrow; so may all after it in
   * its group.
   */
  private boolean onlyWithoutBorrowing(
      PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    return kind() == Kind.OTHER && !whileBorrowing(preemptionRequest, quotaHolder);
  }

  private boolean whileBorrowing(PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    return kind() == Kind.OTHER
        && policies.borrowWithinCohort()
        && quotaHolder.priority() < preemptionRequest.priority()
        && (policies.borrowMaxPriorityThreshold().isEmpty()
            || quotaHolder.priority() <= policies.borrowMaxPriorityThreshold().getAsInt());
  }

  /** Whether its priority protects it, and that of all after it in its group. */
  private boolean isTooHigh(PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    if (below != null) {
      return policies.reclaimWithinCohort() != ReclaimWithinCohort.ANY
          && quotaHolder.priority() >= preemptionRequest.priority();
    }
    return policies.withinClusterQueue() == WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY
        ? quotaHolder.priority() > preemptionRequest.priority()
        : quotaHolder.priority() >= preemptionRequest.priority();
  }

  /** Whether it is as important, and came first. */
  private boolean isOlderEqual(PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    return below == null
        && quotaHolder.priority() == preemptionRequest.priority()
        && preemptionRequest.queuedAtMicros() >= quotaHolder.queuedAtMicros();
  }

  /** Goes through the candidates of a queue. */
  static final class Cursor {
    private final CandidateQueue candidateQueue;
    private final PreemptionRequest preemptionRequest;
    private final boolean borrowing;
    private final Iterator<Iterator<QuotaHolder>> groups;
    private Iterator<QuotaHolder> quotaHolders = Collections.emptyIterator();
    private @Nullable QuotaHolder current;

    private Cursor(
        CandidateQueue candidateQueue,
        PreemptionRequest preemptionRequest,
        boolean evicted,
        boolean borrowing) {
      this.candidateQueue = candidateQueue;
      this.preemptionRequest = preemptionRequest;
      this.borrowing = borrowing;
      this.groups = candidateQueue.queue.holders().groups(evicted);
      advance();
    }

    CandidateQueue source() {
      return candidateQueue;
    }

    /** The candidate it is at; null at the end. */
    @Nullable QuotaHolder current() {
      return current;
    }

    void advance() {
      current = nextOfGroup();
      while (current == null && groups.hasNext()) {
        quotaHolders = groups.next();
        current = nextOfGroup();
      }
    }

    private @Nullable QuotaHolder nextOfGroup() {
      while (quotaHolders.hasNext()) {
        QuotaHolder quotaHolder = quotaHolders.next();
        if (candidateQueue.isTooHigh(preemptionRequest, quotaHolder)
            || (borrowing && candidateQueue.onlyWithoutBorrowing(preemptionRequest, quotaHolder))) {
          quotaHolders = Collections.emptyIterator();
        } else if (!quotaHolder.usageRemoved()
            && quotaHolder.usesAny(preemptionRequest.needed())
            && !candidateQueue.isOlderEqual(preemptionRequest, quotaHolder)) {
          return quotaHolder;
        }
      }
      return null;
    }
  }
}
