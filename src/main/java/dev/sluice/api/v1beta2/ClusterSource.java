package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** Where the access data of a worker cluster comes from: exactly one of the two. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterSource(
    @Nullable ClusterProfileReference clusterProfileRef, @Nullable KubeConfig kubeConfig) {}
