package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Which running workloads a waiting one may stop. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueuePreemption(
    BorrowWithinCohort borrowWithinCohort,
    ReclaimWithinCohortPolicy reclaimWithinCohort,
    WithinClusterQueuePolicy withinClusterQueue) {

  /** What holds when nothing is said. */
  public static final ClusterQueuePreemption DEFAULT =
      new ClusterQueuePreemption(
          BorrowWithinCohort.DEFAULT,
          ReclaimWithinCohortPolicy.NEVER,
          WithinClusterQueuePolicy.NEVER);

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueuePreemption {
    borrowWithinCohort = Defaults.or(borrowWithinCohort, BorrowWithinCohort.DEFAULT);
    reclaimWithinCohort = Defaults.or(reclaimWithinCohort, ReclaimWithinCohortPolicy.NEVER);
    withinClusterQueue = Defaults.or(withinClusterQueue, WithinClusterQueuePolicy.NEVER);
  }
}
