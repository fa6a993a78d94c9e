package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** Where a cohort stands. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CohortStatus(@Nullable FairSharingStatus fairSharing) {}
