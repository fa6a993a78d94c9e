package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Place in fair sharing. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FairSharingStatus(Long weightedShare) {}
