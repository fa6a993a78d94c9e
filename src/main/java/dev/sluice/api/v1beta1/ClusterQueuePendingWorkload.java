package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** One waiting workload. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueuePendingWorkload(
    @Required @JsonPropertyDescription("Name of the workload.") String name,
    @Required @JsonPropertyDescription("Namespace of the workload.") String namespace) {}
