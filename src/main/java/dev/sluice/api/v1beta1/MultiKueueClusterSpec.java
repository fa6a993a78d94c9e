package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.v1beta2.ClusterProfileReference;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** How a worker cluster is reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "(self.kubeConfig.location != '') != has(self.clusterProfileRef)",
    message = "exactly one of kubeConfig, with a location, and clusterProfileRef must be " + "set")
public record MultiKueueClusterSpec(
    @Required @JsonPropertyDescription("Kubeconfig of the cluster.") KubeConfig kubeConfig,
    @JsonPropertyDescription(
            "ClusterProfile, in the operator's namespace, that tells how the cluster is "
                + "reached.")
        @Nullable ClusterProfileReference clusterProfileRef) {}
