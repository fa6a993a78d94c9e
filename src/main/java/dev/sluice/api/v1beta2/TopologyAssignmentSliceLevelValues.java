package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Values of one level in a run of domains: exactly one of the two. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "has(self.universal) != has(self.individual)",
    message = "exactly one of universal and individual must be set")
public record TopologyAssignmentSliceLevelValues(
    @JsonPropertyDescription("The value for each domain.")
        @Nullable TopologyAssignmentSliceLevelIndividualValues individual,
    @Text(max = 63) @JsonPropertyDescription("The value, when it is the same for all domains.")
        @Nullable String universal) {}
