package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A cohort's own quota, its parent and its weight. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CohortSpec(
    @Nullable FairSharing fairSharing,
    @Nullable String parentName,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ResourceGroup> resourceGroups) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public CohortSpec {
    resourceGroups = Defaults.orEmpty(resourceGroups);
  }
}
