package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** Topology of a flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueTopologyInfo(
    @Required
        @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Name of the topology.")
        String name,
    @Required
        @Size(min = 1, max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Node labels of its levels, the widest first.")
        List<String> levels) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueTopologyInfo {
    levels = Defaults.orEmpty(levels);
  }
}
