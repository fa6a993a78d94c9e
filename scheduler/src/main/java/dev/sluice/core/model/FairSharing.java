package dev.sluice.core.model;

import java.util.List;

/**
 * Parameters of fair sharing: how queues of a cohort share idle quota by their weights.
 *
 * @param strategies the conditions under which a queue may preempt Workloads of another queue, in
 *     the order in which the conditions are tried; at least one
 * @param reclaimsWithinNominal whether a queue that stays within its nominal quota may reclaim
 *     quota from borrowing queues whatever the shares
 * @param nonBorrowingFirst whether Workloads that don't borrow are admitted before Workloads that
 *     borrow
 * @param refills whether the next Workload of a queue joins the cycle in which the queue was given
 *     quota (gate FairSharingRefill)
 */
public record FairSharing(
    List<Strategy> strategies,
    boolean reclaimsWithinNominal,
    boolean nonBorrowingFirst,
    boolean refills) {

  /** The condition on the preemptor's share under which a target of another queue is allowed. */
  public enum Strategy {
    /** The preemptor's share is at most the share of the target's queue after the preemption. */
    LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
    /** The preemptor's share is less than the share of the target's queue before the preemption. */
    LESS_THAN_INITIAL_SHARE
  }

  /** Parameters where one Workload of a queue takes part in a cycle. */
  public FairSharing(
      List<Strategy> strategies, boolean reclaimsWithinNominal, boolean nonBorrowingFirst) {
    this(strategies, reclaimsWithinNominal, nonBorrowingFirst, false);
  }

  /** Keeps a copy of the strategies. */
  public FairSharing {
    strategies = List.copyOf(strategies);
    if (strategies.isEmpty()) {
      throw new IllegalArgumentException("fair sharing needs a strategy");
    }
  }
}
