package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.v1beta2.LocationType;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;

/** Where a kubeconfig is found. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record KubeConfig(
    @Required
        @JsonPropertyDescription(
            "With locationType Secret the name of a Secret in the operator's namespace "
                + "that has the kubeconfig under the key kubeconfig; with Path an absolute "
                + "path in the operator's file system.")
        String location,
    @Required @Default("Secret") @JsonPropertyDescription("Secret or Path.")
        LocationType locationType) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public KubeConfig {
    locationType = Defaults.or(locationType, LocationType.SECRET);
  }
}
