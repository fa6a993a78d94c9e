package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Whether the search for a flavor stops at one that needs borrowing or preemption. The constants
 * are named as in the API.
 */
public enum FlavorFungibilityPolicy {
  /** {@code MayStopSearch}. */
  @JsonProperty("MayStopSearch")
  MAY_STOP_SEARCH,
  /** {@code TryNextFlavor}. */
  @JsonProperty("TryNextFlavor")
  TRY_NEXT_FLAVOR
}
