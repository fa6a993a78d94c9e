package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;

/** What a pod set asks for in total. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetRequest(
    @Required
        @Text(max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the pod set.")
        String name,
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Amounts by resource, for all its pods together.")
        Map<String, Quantity> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public PodSetRequest {
    resources = Defaults.orEmpty(resources);
  }
}
