package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** Names the cluster-scoped object in which the controller of a check finds its settings. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckParametersReference(String name, String apiGroup, String kind) {}
