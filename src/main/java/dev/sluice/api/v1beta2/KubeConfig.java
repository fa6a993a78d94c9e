package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Where a kubeconfig is found. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record KubeConfig(String location, LocationType locationType) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public KubeConfig {
    locationType = Defaults.or(locationType, LocationType.SECRET);
  }
}
