package dev.sluice.core.model;

import java.util.OptionalInt;

/** Which Workloads a ClusterQueue's Workloads may preempt (API: {@code spec.preemption}). */
public record PreemptionPolicies(
    WithinClusterQueue withinClusterQueue,
    ReclaimWithinCohort reclaimWithinCohort,
    boolean borrowWithinCohort,
    OptionalInt borrowMaxPriorityThreshold) {

  /** No preemption: the default. */
  public static final PreemptionPolicies NEVER =
      new PreemptionPolicies(
          WithinClusterQueue.NEVER, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  /** Targets in the same ClusterQueue. */
  public enum WithinClusterQueue {
    NEVER,
    LOWER_PRIORITY,
    LOWER_OR_NEWER_EQUAL_PRIORITY
  }

  /** Targets in other ClusterQueues of the cohort that borrow. */
  public enum ReclaimWithinCohort {
    NEVER,
    LOWER_PRIORITY,
    ANY
  }
}
