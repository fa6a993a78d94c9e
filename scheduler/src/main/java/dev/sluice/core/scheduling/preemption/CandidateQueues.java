package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Protected;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the queues that may have candidates: the preemptor's own queue, and queues of its cohort
 * tree that borrow a needed pair. Cohorts that don't borrow are skipped with all their members.
 */
final class CandidateQueues {

  private final BorrowingQueues borrowingQueues;
  private final PreemptionRequest preemptionRequest;

  /** Whether the usage is the sum of the reservations, so that borrowing queues are remembered. */
  private final boolean asReserved;

  /** Whether queues are left out whose candidates are all protected by their priority. */
  private final boolean skipsProtected;

  private final List<CandidateQueue> found = new ArrayList<>();

  private CandidateQueues(
      BorrowingQueues borrowingQueues,
      PreemptionRequest preemptionRequest,
      boolean asReserved,
      boolean skipsProtected) {
    this.borrowingQueues = borrowingQueues;
    this.preemptionRequest = preemptionRequest;
    this.asReserved = asReserved && preemptionRequest.needed().length == 1;
    this.skipsProtected = skipsProtected;
  }

  /**
   * The queues that may have candidates in any attempt.
   *
   * @param asReserved whether the usage is the sum of the reservations
   */
  static List<CandidateQueue> of(
      BorrowingQueues borrowingQueues, PreemptionRequest preemptionRequest, boolean asReserved) {
    return new CandidateQueues(borrowingQueues, preemptionRequest, asReserved, true).find();
  }

  private List<CandidateQueue> find() {
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    if (policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER) {
      collectFromAncestors();
    }
    if (policies.withinClusterQueue() != WithinClusterQueue.NEVER) {
      found.add(new CandidateQueue(preemptionRequest.queue(), null, false));
    }
    return found;
  }

  /** The queues whose Workloads the preemptor may preempt, whatever the priorities. */
  static List<CandidateQueue> all(
      BorrowingQueues borrowingQueues, PreemptionRequest preemptionRequest) {
    return new CandidateQueues(borrowingQueues, preemptionRequest, false, false).find();
  }

  /** Whether one of all these queues has a holder of a needed pair that nobody can evict. */
  static boolean meetNotEvictable(
      BorrowingQueues borrowingQueues, PreemptionRequest preemptionRequest) {
    if (!preemptionRequest.queue().node().root().anyHolder().notEvictable()) {
      return false;
    }
    for (CandidateQueue candidateQueue : all(borrowingQueues, preemptionRequest)) {
      if (candidateQueue.queue().holders().anyNotEvictableUses(preemptionRequest.needed())) {
        return true;
      }
    }
    return false;
  }

  /** All their protected holders. */
  static Protected protectedFrom(
      BorrowingQueues borrowingQueues, PreemptionRequest preemptionRequest) {
    Protected all = Protected.NONE;
    for (CandidateQueue candidateQueue : all(borrowingQueues, preemptionRequest)) {
      all = all.and(candidateQueue.protectedFrom(preemptionRequest));
    }
    return all;
  }

  private void collectFromAncestors() {
    long[] remaining = preemptionRequest.amounts().clone();
    QuotaNode visited = preemptionRequest.queue().node();
    boolean advantage = canHold(visited, remaining);
    for (QuotaNode ancestor = visited.parent(); ancestor != null; ancestor = ancestor.parent()) {
      collect(ancestor, visited, advantage);
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

  private void collect(QuotaNode ancestor, QuotaNode visited, boolean advantage) {
    long protectedFrom = skipsProtected ? protectedFrom(advantage) : Long.MAX_VALUE;
    List<ClusterQueueCache> borrowing = borrowing(ancestor, visited, protectedFrom);
    for (ClusterQueueCache queue : borrowing) {
      if (queue.holders().lowestPriority() < protectedFrom || protectedFrom == Long.MAX_VALUE) {
        if (!isBelow(queue.node(), visited)) {
          found.add(new CandidateQueue(queue, ancestor, advantage));
        }
      } else if (asReserved) {
        // Remembered queues are sorted: the others have no lower priority.
        return;
      }
    }
  }

  private List<ClusterQueueCache> borrowing(
      QuotaNode ancestor, QuotaNode visited, long protectedFrom) {
    int[] needed = preemptionRequest.needed();
    if (asReserved) {
      return borrowingQueues.remembered(ancestor, needed[0]);
    }
    List<ClusterQueueCache> known =
        needed.length == 1 && skipsProtected
            ? borrowingQueues.findByMemory(ancestor, needed[0], protectedFrom)
            : null;
    return known != null ? known : borrowingQueues.find(ancestor, visited, needed);
  }

  /**
   * The priority from which on Workloads of other queues are protected; {@link Long#MAX_VALUE} if
   * none are. Only with {@code Any}, and without borrowing or by the hierarchical advantage, is the
   * preemptor's own priority no limit.
   */
  private long protectedFrom(boolean advantage) {
    boolean any =
        preemptionRequest.queue().spec().preemption().reclaimWithinCohort()
                == ReclaimWithinCohort.ANY
            && (advantage || ClassicalUpperBound.staysWithinNominal(preemptionRequest));
    return any ? Long.MAX_VALUE : preemptionRequest.priority();
  }

  /** Whether a queue is at or below a node; below none if there is no such node. */
  static boolean isBelow(QuotaNode queue, @Nullable QuotaNode ancestor) {
    for (QuotaNode node = queue; node != null; node = node.parent()) {
      if (node == ancestor) {
        return true;
      }
    }
    return false;
  }
}
