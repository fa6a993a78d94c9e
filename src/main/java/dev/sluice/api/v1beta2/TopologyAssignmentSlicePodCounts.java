package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Number of pods in each domain of a run: exactly one of the two. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "has(self.universal) != has(self.individual)",
    message = "exactly one of universal and individual must be set")
public record TopologyAssignmentSlicePodCounts(
    @Size(min = 1, max = 100000)
        @Items(minimum = 1)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("The number for each domain.")
        List<Integer> individual,
    @Min(1) @JsonPropertyDescription("The number, when it is the same for all domains.")
        @Nullable Integer universal) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologyAssignmentSlicePodCounts {
    individual = Defaults.orEmpty(individual);
  }
}
