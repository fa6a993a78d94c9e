package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** What orders the workloads of a cluster queue besides priority and age. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionScope(
    @Required
        @JsonPropertyDescription(
            "UsageBasedAdmissionFairSharing: local queues that used less so far come "
                + "first. NoAdmissionFairSharing: past usage doesn't count.")
        String admissionMode) {}
