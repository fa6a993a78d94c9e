package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** Whether a workload that has to borrow may stop those of other queues. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record BorrowWithinCohort(
    @Nullable Integer maxPriorityThreshold, BorrowWithinCohortPolicy policy) {

  /** What holds when nothing is said. */
  public static final BorrowWithinCohort DEFAULT =
      new BorrowWithinCohort(null, BorrowWithinCohortPolicy.NEVER);

  /** Takes what is absent for its default; lists and maps become immutable. */
  public BorrowWithinCohort {
    policy = Defaults.or(policy, BorrowWithinCohortPolicy.NEVER);
  }
}
