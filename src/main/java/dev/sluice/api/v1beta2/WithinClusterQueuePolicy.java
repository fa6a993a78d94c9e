package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Which workloads of its own queue a waiting one may stop. The constants are named as in the API.
 */
public enum WithinClusterQueuePolicy {
  /** {@code Never}. */
  @JsonProperty("Never")
  NEVER,
  /** {@code LowerPriority}. */
  @JsonProperty("LowerPriority")
  LOWER_PRIORITY,
  /** {@code LowerOrNewerEqualPriority}. */
  @JsonProperty("LowerOrNewerEqualPriority")
  LOWER_OR_NEWER_EQUAL_PRIORITY
}
