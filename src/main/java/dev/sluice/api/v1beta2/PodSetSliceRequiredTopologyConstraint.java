package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;

/** Size of the slices at one topology level. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetSliceRequiredTopologyConstraint(
    @Required
        @Min(1)
        @JsonPropertyDescription("Number of pods in a slice; divides that of the level before.")
        Integer size,
    @Required
        @Text(min = 1, max = 63)
        @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which has to hold "
                + "each slice.")
        String topology) {}
