package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Protected;
import java.util.Collections;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A queue with candidates, and the preemptor's policies for it.
 *
 * @param queue the queue
 * @param commonAncestor the lowest common ancestor of the queue and the preemptor's queue; null for
 *     the preemptor's own queue
 * @param hierarchical whether the preemptor has the hierarchical advantage over the queue
 */
record CandidateQueue(
    ClusterQueueCache queue, @Nullable QuotaNode commonAncestor, boolean hierarchical) {

  /** The three kinds of queues, in the order in which their candidates are taken. */
  enum Kind {
    HIERARCHICAL,
    OTHER,
    OWN
  }

  Kind kind() {
    if (commonAncestor == null) {
      return Kind.OWN;
    }
    return hierarchical ? Kind.HIERARCHICAL : Kind.OTHER;
  }

  /** Whether the queue, and every cohort between it and the common ancestor, still borrows. */
  boolean stillBorrows(PreemptionRequest preemptionRequest) {
    for (QuotaNode node = queue.node();
        node != null && node != commonAncestor;
        node = node.parent()) {
      if (!preemptionRequest.isBorrowing(node)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The candidates that are being evicted, or the others, in the order of preemption.
   *
   * @param borrowing whether the preemptor borrows: candidates that it may take only without
   *     borrowing are left out
   */
  Cursor candidates(PreemptionRequest preemptionRequest, boolean evicted, boolean borrowing) {
    return new Cursor(this, preemptionRequest, evicted, borrowing);
  }

  boolean hasCandidates(PreemptionRequest preemptionRequest) {
    return hasCandidates(preemptionRequest, true) || hasCandidates(preemptionRequest, false);
  }

  private boolean hasCandidates(PreemptionRequest preemptionRequest, boolean evicted) {
    return mayHaveCandidates(preemptionRequest, evicted, false)
        && candidates(preemptionRequest, evicted, false).current() != null;
  }

  /**
   * Whether {@link #candidates} may have any, as far as the lowest priority of all holders shows.
   */
  boolean mayHaveCandidates(
      PreemptionRequest preemptionRequest, boolean evicted, boolean borrowing) {
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
   * Whether the preemptor may take the candidate, and the ones after it in its group, only without
   * borrowing.
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

  /** Whether the candidate's priority protects it and the ones after it in its group. */
  private boolean isProtectedByPriority(
      PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    if (commonAncestor != null) {
      return policies.reclaimWithinCohort() != ReclaimWithinCohort.ANY
          && quotaHolder.priority() >= preemptionRequest.priority();
    }
    return policies.withinClusterQueue() == WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY
        ? quotaHolder.priority() > preemptionRequest.priority()
        : quotaHolder.priority() >= preemptionRequest.priority();
  }

  /** Whether the candidate has the preemptor's priority and was queued earlier. */
  private boolean isOlderEqual(PreemptionRequest preemptionRequest, QuotaHolder quotaHolder) {
    return commonAncestor == null
        && quotaHolder.priority() == preemptionRequest.priority()
        && preemptionRequest.queuedAtMicros() >= quotaHolder.queuedAtMicros();
  }

  /** The holders that only a rule for some time protects. */
  Protected protectedFrom(PreemptionRequest preemptionRequest) {
    Protected all = Protected.NONE;
    for (Iterator<Iterator<QuotaHolder>> groups = queue.holders().groups(false);
        groups.hasNext(); ) {
      for (Iterator<QuotaHolder> group = groups.next(); group.hasNext(); ) {
        QuotaHolder quotaHolder = group.next();
        if (isProtectedByPriority(preemptionRequest, quotaHolder)) {
          break;
        }
        Protected one = Protected.of(quotaHolder, queue, preemptionRequest.preemptor());
        if (one != Protected.NONE
            && quotaHolder.usesAny(preemptionRequest.needed())
            && !isOlderEqual(preemptionRequest, quotaHolder)) {
          all = all.and(one);
        }
      }
    }
    return all;
  }

  /** Iterates over the candidates of a queue. */
  static final class Cursor {
    private final CandidateQueue candidateQueue;
    private final PreemptionRequest preemptionRequest;
    private final boolean borrowing;
    private final PreemptionRules rules;
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
      this.rules = candidateQueue.queue.node().preemptionRules();
      this.groups = preemptionRequest.groups(candidateQueue.queue, evicted);
      advance();
    }

    CandidateQueue source() {
      return candidateQueue;
    }

    /** The current candidate; null at the end. */
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

    private boolean isProtected(QuotaHolder quotaHolder) {
      Preemptor preemptor = preemptionRequest.preemptor();
      return quotaHolder.protectedUntilMicros(rules, preemptor.exempt()) > preemptor.nowMicros();
    }

    private @Nullable QuotaHolder nextOfGroup() {
      while (quotaHolders.hasNext()) {
        QuotaHolder quotaHolder = quotaHolders.next();
        if (candidateQueue.isProtectedByPriority(preemptionRequest, quotaHolder)
            || (borrowing && candidateQueue.onlyWithoutBorrowing(preemptionRequest, quotaHolder))) {
          quotaHolders = Collections.emptyIterator();
        } else if (!quotaHolder.usageRemoved()
            && quotaHolder.usesAny(preemptionRequest.needed())
            && !candidateQueue.isOlderEqual(preemptionRequest, quotaHolder)
            && !isProtected(quotaHolder)
            && !preemptionRequest.preemptor().spares(quotaHolder)) {
          return quotaHolder;
        }
      }
      return null;
    }
  }
}
