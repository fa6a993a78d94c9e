package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A value for each domain, with what they have in common told once. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologyAssignmentSliceLevelIndividualValues(
    @Required
        @Size(min = 1, max = 100000)
        @Items(maxLength = 63)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("What stands between, for each domain.")
        List<String> roots,
    @Text(max = 63) @JsonPropertyDescription("What all values start with.") @Nullable String prefix,
    @Text(max = 63) @JsonPropertyDescription("What all values end with.") @Nullable String suffix) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologyAssignmentSliceLevelIndividualValues {
    roots = Defaults.orEmpty(roots);
  }
}
