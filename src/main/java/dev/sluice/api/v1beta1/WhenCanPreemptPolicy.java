package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Whether the search stops at a flavor that needs preemption. The constants are named as in the
 * API.
 */
public enum WhenCanPreemptPolicy {
  /** {@code MayStopSearch}. */
  @JsonProperty("MayStopSearch")
  MAY_STOP_SEARCH,
  /** {@code TryNextFlavor}. */
  @JsonProperty("TryNextFlavor")
  TRY_NEXT_FLAVOR,
  /** {@code Preempt}. */
  @JsonProperty("Preempt")
  PREEMPT
}
