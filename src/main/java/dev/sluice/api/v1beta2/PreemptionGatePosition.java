package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Whether a preemption gate lets through. The constants are named as in the API. */
public enum PreemptionGatePosition {
  /** {@code Closed}. */
  @JsonProperty("Closed")
  CLOSED,
  /** {@code Open}. */
  @JsonProperty("Open")
  OPEN
}
