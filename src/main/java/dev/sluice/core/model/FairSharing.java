package dev.sluice.core.model;

import java.util.List;

/**
 * How queues of a cohort share what is idle by their weights.
 *
 * @param strategies when one may preempt another's, in the order in which they are tried; at least
 *     one
 * @param reclaimsWithinNominal whether one that stays within its own quota takes it back from those
 *     who borrow whatever the shares
 * @param nonBorrowingFirst whether those who don't borrow are admitted before those who do
 */
public record FairSharing(
    List<Strategy> strategies, boolean reclaimsWithinNominal, boolean nonBorrowingFirst) {

  /** When a preemptor's share allows a victim of another queue. */
  public enum Strategy {
    /** It is at most what is left to the other one. */
    LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
    /** It is below what the other one has now. */
    LESS_THAN_INITIAL_SHARE
  }

  public FairSharing {
    strategies = List.copyOf(strategies);
    if (strategies.isEmpty()) {
      throw new IllegalArgumentException("fair sharing needs a strategy");
    }
  }
}
