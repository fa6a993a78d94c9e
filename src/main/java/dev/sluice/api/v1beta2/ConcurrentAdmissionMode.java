package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Whether a running workload moves to a preferred flavor. The constants are named as in the API.
 */
public enum ConcurrentAdmissionMode {
  /** {@code TryPreferredFlavors}. */
  @JsonProperty("TryPreferredFlavors")
  TRY_PREFERRED_FLAVORS,
  /** {@code RetainFirstAdmission}. */
  @JsonProperty("RetainFirstAdmission")
  RETAIN_FIRST_ADMISSION
}
