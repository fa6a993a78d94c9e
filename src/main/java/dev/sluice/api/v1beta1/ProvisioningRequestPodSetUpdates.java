package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.v1beta2.ProvisioningRequestPodSetUpdatesNodeSelector;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** What is added to pods when their nodes were provided. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProvisioningRequestPodSetUpdates(
    @Size(max = 8)
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Node selector entries whose values come from the answered request.")
        List<ProvisioningRequestPodSetUpdatesNodeSelector> nodeSelector) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ProvisioningRequestPodSetUpdates {
    nodeSelector = Defaults.orEmpty(nodeSelector);
  }
}
