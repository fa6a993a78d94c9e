package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** Where pods are to run, as a list of domains in compact form. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "self.slices.all(s, size(s.valuesPerLevel) == size(self.levels))",
    messageExpression =
        "'valuesPerLevel must have one entry for each of the %d "
            + "levels'.format([size(self.levels)])",
    fieldPath = ".slices")
public record TopologyAssignment(
    @Required
        @Size(min = 1, max = 16)
        @Items(maxLength = 317)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Node labels of the levels, the widest first.")
        List<String> levels,
    @Required
        @Size(max = 1000)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Runs of domains, one after the other; the order of domains is the order of "
                + "pod ranks.")
        List<TopologyAssignmentSlice> slices) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologyAssignment {
    levels = Defaults.orEmpty(levels);
    slices = Defaults.orEmpty(slices);
  }
}
