package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** What orders the workloads of a cluster queue besides priority and age. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionScope(AdmissionMode admissionMode) {}
