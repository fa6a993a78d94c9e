package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** In which order a queue admits. The constants are named as in the API. */
public enum QueueingStrategy {
  /** {@code StrictFIFO}. */
  @JsonProperty("StrictFIFO")
  STRICT_FIFO,
  /** {@code BestEffortFIFO}. */
  @JsonProperty("BestEffortFIFO")
  BEST_EFFORT_FIFO
}
