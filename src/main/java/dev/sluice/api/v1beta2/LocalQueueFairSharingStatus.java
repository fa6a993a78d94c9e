package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** Past usage of a local queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueFairSharingStatus(
    Long weightedShare, @Nullable AdmissionFairSharingStatus admissionFairSharingStatus) {}
