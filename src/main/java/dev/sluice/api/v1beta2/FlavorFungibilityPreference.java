package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Which is the lesser evil when no flavor fits freely. The constants are named as in the API. */
public enum FlavorFungibilityPreference {
  /** {@code BorrowingOverPreemption}. */
  @JsonProperty("BorrowingOverPreemption")
  BORROWING_OVER_PREEMPTION,
  /** {@code PreemptionOverBorrowing}. */
  @JsonProperty("PreemptionOverBorrowing")
  PREEMPTION_OVER_BORROWING
}
