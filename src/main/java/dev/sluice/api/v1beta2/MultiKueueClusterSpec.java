package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;

/** How a worker cluster is reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueClusterSpec(ClusterSource clusterSource) {}
