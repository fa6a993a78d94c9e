package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Whether past usage orders admission. The constants are named as in the API. */
public enum AdmissionMode {
  /** {@code UsageBasedAdmissionFairSharing}. */
  @JsonProperty("UsageBasedAdmissionFairSharing")
  USAGE_BASED_ADMISSION_FAIR_SHARING,
  /** {@code NoAdmissionFairSharing}. */
  @JsonProperty("NoAdmissionFairSharing")
  NO_ADMISSION_FAIR_SHARING
}
