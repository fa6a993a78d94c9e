package dev.sluice.core.model;

import java.util.OptionalInt;

/** Whom a ClusterQueue may preempt (API: {@code spec.preemption}). */
public record PreemptionPolicies(
    WithinClusterQueue withinClusterQueue,
    ReclaimWithinCohort reclaimWithinCohort,
    boolean borrowWithinCohort,
    OptionalInt borrowMaxPriorityThreshold) {

  /** Nobody: the default. */
  public static final PreemptionPolicies NEVER =
      new PreemptionPolicies(
          WithinClusterQueue.NEVER, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  /** Victims in the own queue. */
  public enum WithinClusterQueue {
    NEVER,
    LOWER_PRIORITY,
    LOWER_OR_NEWER_EQUAL_PRIORITY
  }

  /** Victims in other queues of the cohort that borrow. */
  public enum ReclaimWithinCohort {
    NEVER,
    LOWER_PRIORITY,
    ANY
  }
}
