package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Where the access data of a worker cluster comes from: exactly one of the two. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "has(self.kubeConfig) != has(self.clusterProfileRef)",
    message = "exactly one of kubeConfig and clusterProfileRef must be set")
public record ClusterSource(
    @JsonPropertyDescription(
            "A ClusterProfile of the operator's namespace. Needs the feature gate "
                + "MultiKueueClusterProfile.")
        @Nullable ClusterProfileReference clusterProfileRef,
    @JsonPropertyDescription("A kubeconfig.") @Nullable KubeConfig kubeConfig) {}
