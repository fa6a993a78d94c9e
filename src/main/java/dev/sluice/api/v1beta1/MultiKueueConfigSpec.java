package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListSet;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** The worker clusters a job may be sent to. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueConfigSpec(
    @Required
        @Size(min = 1, max = 20)
        @ListSet
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Names of the MultiKueueCluster objects, each once.")
        List<String> clusters) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public MultiKueueConfigSpec {
    clusters = Defaults.orEmpty(clusters);
  }
}
