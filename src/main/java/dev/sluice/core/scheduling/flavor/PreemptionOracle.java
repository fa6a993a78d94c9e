package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;

/** Tries preemption for a single pair, and leaves everything as it was. */
@FunctionalInterface
public interface PreemptionOracle {

  /**
   * What came of it.
   *
   * @param mode NO_CANDIDATES, PREEMPT (somebody of the own queue among the victims) or RECLAIM
   * @param borrowLevel how high quota would be borrowed once the victims were gone
   */
  record Result(AssignmentMode mode, int borrowLevel) {}

  /** What would come of preempting others for {@code amount} of {@code pair}. */
  Result simulate(int pair, long amount);

  /** Whether it is worth a try where the request borrows beyond what can be reclaimed. */
  default boolean triesBorrowing() {
    return false;
  }
}
