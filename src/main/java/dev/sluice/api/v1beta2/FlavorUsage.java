package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** What is in use of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FlavorUsage(
    String name, @JsonInclude(JsonInclude.Include.ALWAYS) List<ResourceUsage> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FlavorUsage {
    resources = Defaults.orEmpty(resources);
  }
}
