package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Whether a workload that has to borrow may stop others. The constants are named as in the API. */
public enum BorrowWithinCohortPolicy {
  /** {@code Never}. */
  @JsonProperty("Never")
  NEVER,
  /** {@code LowerPriority}. */
  @JsonProperty("LowerPriority")
  LOWER_PRIORITY
}
