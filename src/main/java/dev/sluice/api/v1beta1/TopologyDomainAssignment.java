package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** One domain and its pods. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologyDomainAssignment(
    @Required @Min(1) @JsonPropertyDescription("Number of pods in the domain.") Integer count,
    @Required
        @Size(min = 1, max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Value of each level's node label.")
        List<String> values) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologyDomainAssignment {
    values = Defaults.orEmpty(values);
  }
}
