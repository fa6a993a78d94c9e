package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** What is in use of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FlavorUsage(
    @Required
        @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Name of the flavor.")
        String name,
    @Required
        @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("What is in use, by resource.")
        List<ResourceUsage> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FlavorUsage {
    resources = Defaults.orEmpty(resources);
  }
}
