package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** What a local queue uses of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueFlavorUsage(
    String name, @JsonInclude(JsonInclude.Include.ALWAYS) List<LocalQueueResourceUsage> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueFlavorUsage {
    resources = Defaults.orEmpty(resources);
  }
}
