package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Whether a place that is decided late can be decided now. The constants are named as in the API.
 */
public enum DelayedTopologyRequestState {
  /** {@code Pending}. */
  @JsonProperty("Pending")
  PENDING,
  /** {@code Ready}. */
  @JsonProperty("Ready")
  READY
}
