package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;

/** Simulates preemption for a single pair, without changing any usage. */
@FunctionalInterface
public interface PreemptionOracle {

  /**
   * The result of a simulation.
   *
   * @param mode NO_CANDIDATES, PREEMPT (a target is in the same queue) or RECLAIM
   * @param borrowLevel the level from which the request borrows after the preemption
   */
  record Result(AssignmentMode mode, int borrowLevel) {}

  /** Simulates preemption for {@code amount} of {@code pair}. */
  Result simulate(int pair, long amount);

  /** Whether to simulate preemption where the request borrows more than can be reclaimed. */
  default boolean triesBorrowing() {
    return false;
  }
}
