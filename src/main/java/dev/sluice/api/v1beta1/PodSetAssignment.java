package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import dev.sluice.api.schema.Values;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a pod set was given. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetAssignment(
    @Required
        @Default("main")
        @Text(max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the pod set.")
        String name,
    @Min(0) @JsonPropertyDescription("Number of pods the quota is for.") @Nullable Integer count,
    @JsonPropertyDescription(
            "Set when the place of the pods is decided only after the admission checks: "
                + "Pending until then, Ready afterwards.")
        @Nullable String delayedTopologyRequest,
    @Values(maxLength = 253, pattern = Patterns.DNS_SUBDOMAIN)
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Flavor by resource.")
        Map<String, String> flavors,
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Quota by resource for all the pods of the assignment together.")
        Map<String, Quantity> resourceUsage,
    @JsonPropertyDescription("Where the pods are to run.")
        @Nullable TopologyAssignment topologyAssignment) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public PodSetAssignment {
    name = Defaults.or(name, "main");
    flavors = Defaults.orEmpty(flavors);
    resourceUsage = Defaults.orEmpty(resourceUsage);
  }
}
