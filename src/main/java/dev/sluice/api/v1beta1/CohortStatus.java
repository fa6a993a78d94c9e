package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Where a cohort stands. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CohortStatus(
    @JsonPropertyDescription(
            "Place of the cohort in fair sharing. Present only while fair sharing is on.")
        @Nullable FairSharingStatus fairSharing) {}
