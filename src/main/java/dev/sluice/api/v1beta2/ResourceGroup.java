package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** Resources that are always taken from the same flavor, and the flavors to choose from. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ResourceGroup(
    @JsonInclude(JsonInclude.Include.ALWAYS) List<String> coveredResources,
    @JsonInclude(JsonInclude.Include.ALWAYS) List<FlavorQuotas> flavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ResourceGroup {
    coveredResources = Defaults.orEmpty(coveredResources);
    flavors = Defaults.orEmpty(flavors);
  }
}
