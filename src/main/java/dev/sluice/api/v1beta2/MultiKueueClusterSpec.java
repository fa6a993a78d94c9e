package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** How a worker cluster is reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueClusterSpec(
    @Required @JsonPropertyDescription("Where the access data of the cluster comes from.")
        ClusterSource clusterSource) {}
