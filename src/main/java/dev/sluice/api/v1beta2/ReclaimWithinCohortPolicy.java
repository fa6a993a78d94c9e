package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Which borrowers of the cohort a queue may stop to get its own quota back. The constants are named
 * as in the API.
 */
public enum ReclaimWithinCohortPolicy {
  /** {@code Never}. */
  @JsonProperty("Never")
  NEVER,
  /** {@code LowerPriority}. */
  @JsonProperty("LowerPriority")
  LOWER_PRIORITY,
  /** {@code Any}. */
  @JsonProperty("Any")
  ANY
}
