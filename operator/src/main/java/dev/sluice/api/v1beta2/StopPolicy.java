package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Whether a queue admits, and what becomes of what it has admitted. The constants are named as in
 * the API.
 */
public enum StopPolicy {
  /** {@code None}. */
  @JsonProperty("None")
  NONE,
  /** {@code Hold}. */
  @JsonProperty("Hold")
  HOLD,
  /** {@code HoldAndDrain}. */
  @JsonProperty("HoldAndDrain")
  HOLD_AND_DRAIN
}
