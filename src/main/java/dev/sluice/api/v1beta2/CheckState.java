package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** The answer of an admission check. The constants are named as in the API. */
public enum CheckState {
  /** {@code Pending}. */
  @JsonProperty("Pending")
  PENDING,
  /** {@code Ready}. */
  @JsonProperty("Ready")
  READY,
  /** {@code Retry}. */
  @JsonProperty("Retry")
  RETRY,
  /** {@code Rejected}. */
  @JsonProperty("Rejected")
  REJECTED
}
