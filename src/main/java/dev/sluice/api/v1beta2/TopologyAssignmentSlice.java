package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** A run of domains. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "(!has(self.podCounts.individual) || size(self.podCounts.individual) == "
            + "self.domainCount) && self.valuesPerLevel.all(v, !has(v.individual) || "
            + "size(v.individual.roots) == self.domainCount)",
    messageExpression =
        "'each individual list must have as many entries as domainCount, which is "
            + "%d'.format([self.domainCount])")
public record TopologyAssignmentSlice(
    @Required @Min(1) @JsonPropertyDescription("Number of domains in this run.")
        Integer domainCount,
    @Required @JsonPropertyDescription("Number of pods in each domain.")
        TopologyAssignmentSlicePodCounts podCounts,
    @Required
        @Size(min = 1, max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("For each level the values that tell the domains.")
        List<TopologyAssignmentSliceLevelValues> valuesPerLevel) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologyAssignmentSlice {
    valuesPerLevel = Defaults.orEmpty(valuesPerLevel);
  }
}
