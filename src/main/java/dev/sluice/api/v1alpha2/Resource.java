package dev.sluice.api.v1alpha2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** Quota of one resource. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Resource(
    @Required @JsonPropertyDescription("Name of the resource, such as cpu or nvidia.com/gpu.")
        String name,
    @Required
        @Size(min = 1, max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Flavors the resource may come from, in order of preference.")
        List<Flavor> flavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public Resource {
    flavors = Defaults.orEmpty(flavors);
  }
}
