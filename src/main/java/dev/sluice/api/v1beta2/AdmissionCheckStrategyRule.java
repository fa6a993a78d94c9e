package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** One admission check of a cluster queue and the flavors it is for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckStrategyRule(
    String name, @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> onFlavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionCheckStrategyRule {
    name = Defaults.or(name, "");
    onFlavors = Defaults.orEmpty(onFlavors);
  }
}
