package dev.sluice.scheduling.preemption;

import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.model.PreemptionReason;
import dev.sluice.queue.Holder;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
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
record Source(QueueState queue, @Nullable QuotaNode below, boolean hierarchical) {

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
  boolean stillBorrows(Preemptor preemptor) {
    for (QuotaNode node = queue.node(); node != null && node != below; node = node.parent()) {
      if (!preemptor.isBorrowing(node)) {
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
  Cursor candidates(Preemptor preemptor, boolean evicted, boolean borrowing) {
    return new Cursor(this, preemptor, evicted, borrowing);
  }

  boolean hasCandidates(Preemptor preemptor) {
    return hasCandidates(preemptor, true) || hasCandidates(preemptor, false);
  }

  private boolean hasCandidates(Preemptor preemptor, boolean evicted) {
    return mayHave(preemptor, evicted, false)
        && candidates(preemptor, evicted, false).current() != null;
  }

  /** Whether {@link #candidates} can have any, as far as one look at all holders tells. */
  boolean mayHave(Preemptor preemptor, boolean evicted, boolean borrowing) {
    if (queue.holders().isEmpty(evicted)) {
      return false;
    }
    PreemptionPolicies policies = preemptor.queue().spec().preemption();
    long lowest = queue.holders().lowestPriority();
    return switch (kind()) {
      case OWN -> lowest <= preemptor.priority();
      case HIERARCHICAL ->
          policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY
              || lowest < preemptor.priority();
      case OTHER ->
          lowest < preemptor.priority()
              ? !borrowing || policies.borrowWithinCohort()
              : !borrowing && policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY;
    };
  }

  PreemptionReason reason(Preemptor preemptor, Holder holder) {
    if (kind() == Kind.OWN) {
      return PreemptionReason.IN_CLUSTER_QUEUE;
    }
    return whileBorrowing(preemptor, holder)
        ? PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
        : PreemptionReason.IN_COHORT_RECLAMATION;
  }

  /**
   * Whether it may be taken only as long as the preemptor doesn't borrow; so may all after it in
   * its group.
   */
  private boolean onlyWithoutBorrowing(Preemptor preemptor, Holder holder) {
    return kind() == Kind.OTHER && !whileBorrowing(preemptor, holder);
  }

  private boolean whileBorrowing(Preemptor preemptor, Holder holder) {
    PreemptionPolicies policies = preemptor.queue().spec().preemption();
    return kind() == Kind.OTHER
        && policies.borrowWithinCohort()
        && holder.priority() < preemptor.priority()
        && (policies.borrowMaxPriorityThreshold().isEmpty()
            || holder.priority() <= policies.borrowMaxPriorityThreshold().getAsInt());
  }

  /** Whether its priority protects it, and that of all after it in its group. */
  private boolean isTooHigh(Preemptor preemptor, Holder holder) {
    PreemptionPolicies policies = preemptor.queue().spec().preemption();
    if (below != null) {
      return policies.reclaimWithinCohort() != ReclaimWithinCohort.ANY
          && holder.priority() >= preemptor.priority();
    }
    return policies.withinClusterQueue() == WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY
        ? holder.priority() > preemptor.priority()
        : holder.priority() >= preemptor.priority();
  }

  /** Whether it is as important, and came first. */
  private boolean isOlderEqual(Preemptor preemptor, Holder holder) {
    return below == null
        && holder.priority() == preemptor.priority()
        && preemptor.queuedAtMicros() >= holder.queuedAtMicros();
  }

  /** Goes through the candidates of a queue. */
  static final class Cursor {
    private final Source source;
    private final Preemptor preemptor;
    private final boolean borrowing;
    private final Iterator<Iterator<Holder>> groups;
    private Iterator<Holder> holders = Collections.emptyIterator();
    private @Nullable Holder current;

    private Cursor(Source source, Preemptor preemptor, boolean evicted, boolean borrowing) {
      this.source = source;
      this.preemptor = preemptor;
      this.borrowing = borrowing;
      this.groups = source.queue.holders().groups(evicted);
      advance();
    }

    Source source() {
      return source;
    }

    /** The candidate it is at; null at the end. */
    @Nullable Holder current() {
      return current;
    }

    void advance() {
      current = nextOfGroup();
      while (current == null && groups.hasNext()) {
        holders = groups.next();
        current = nextOfGroup();
      }
    }

    private @Nullable Holder nextOfGroup() {
      while (holders.hasNext()) {
        Holder holder = holders.next();
        if (source.isTooHigh(preemptor, holder)
            || (borrowing && source.onlyWithoutBorrowing(preemptor, holder))) {
          holders = Collections.emptyIterator();
        } else if (!holder.gone()
            && holder.usesAny(preemptor.needed())
            && !source.isOlderEqual(preemptor, holder)) {
          return holder;
        }
      }
      return null;
    }
  }
}
