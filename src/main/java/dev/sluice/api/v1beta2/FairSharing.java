package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Quantity;

/** Weight in sharing idle quota. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FairSharing(Quantity weight) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FairSharing {
    weight = Defaults.or(weight, new Quantity("1"));
  }
}
