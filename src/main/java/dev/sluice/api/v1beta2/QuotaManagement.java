package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Who sets the quota of a cluster queue in front of worker clusters. The constants are named as in
 * the API.
 */
public enum QuotaManagement {
  /** {@code Manual}. */
  @JsonProperty("Manual")
  MANUAL,
  /** {@code Automated}. */
  @JsonProperty("Automated")
  AUTOMATED
}
