package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** Where pods are to run, as a list of domains in compact form. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologyAssignment(
    @Required
        @Size(min = 1, max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Node labels of the levels, the widest first.")
        List<String> levels,
    @Required
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("The domains in the order of pod ranks.")
        List<TopologyDomainAssignment> domains) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologyAssignment {
    levels = Defaults.orEmpty(levels);
    domains = Defaults.orEmpty(domains);
  }
}
