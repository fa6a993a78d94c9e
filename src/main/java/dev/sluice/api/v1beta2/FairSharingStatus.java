package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** Place in fair sharing. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FairSharingStatus(
    @Required
        @JsonPropertyDescription(
            "Largest share, over all resources, of what is borrowed in what the cohort "
                + "can lend, in thousandths, divided by the weight and rounded up. Zero while "
                + "nothing is borrowed; the largest 64 bit number if the weight is zero and "
                + "something is borrowed.")
        Long weightedShare) {}
