package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** Quota of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FlavorQuotas(
    String name, @JsonInclude(JsonInclude.Include.ALWAYS) List<ResourceQuota> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FlavorQuotas {
    name = Defaults.or(name, "");
    resources = Defaults.orEmpty(resources);
  }
}
