package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.v1beta2.AdmissionFairSharingStatus;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Place in fair sharing. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FairSharingStatus(
    @Required
        @JsonPropertyDescription(
            "Largest share, over all resources, of what is borrowed in what the cohort "
                + "can lend, in thousandths, divided by the weight and rounded up. Zero while "
                + "nothing is borrowed; the largest 64 bit number if the weight is zero and "
                + "something is borrowed.")
        Long weightedShare,
    @JsonPropertyDescription(
            "Past usage. Kept so that old clients can read it; not written for this kind.")
        @Nullable AdmissionFairSharingStatus admissionFairSharingStatus) {}
