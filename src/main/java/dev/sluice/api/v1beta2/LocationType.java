package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Where a kubeconfig is found. The constants are named as in the API. */
public enum LocationType {
  /** {@code Secret}. */
  @JsonProperty("Secret")
  SECRET,
  /** {@code Path}. */
  @JsonProperty("Path")
  PATH
}
