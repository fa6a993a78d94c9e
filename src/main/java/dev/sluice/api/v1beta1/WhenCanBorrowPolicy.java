package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Whether the search stops at a flavor that needs borrowing. The constants are named as in the API.
 */
public enum WhenCanBorrowPolicy {
  /** {@code MayStopSearch}. */
  @JsonProperty("MayStopSearch")
  MAY_STOP_SEARCH,
  /** {@code TryNextFlavor}. */
  @JsonProperty("TryNextFlavor")
  TRY_NEXT_FLAVOR,
  /** {@code Borrow}. */
  @JsonProperty("Borrow")
  BORROW
}
