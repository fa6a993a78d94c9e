package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Past usage of a local queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueFairSharingStatus(
    @Required @JsonPropertyDescription("Always zero for a local queue.") Long weightedShare,
    @JsonPropertyDescription("Past usage that orders admission.")
        @Nullable AdmissionFairSharingStatus admissionFairSharingStatus) {}
