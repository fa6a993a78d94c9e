package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Who answers an admission check, and with which parameters. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckSpec(
    @Required
        @Text(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of the controller that answers this check for every workload that "
                + "needs it, such as kueue.x-k8s.io/provisioning-request or "
                + "kueue.x-k8s.io/multikueue. It can't be changed after creation.")
        String controllerName,
    @JsonPropertyDescription(
            "Cluster-scoped object that holds the controller's settings for this check. "
                + "Which kinds are understood is up to the controller.")
        @Nullable AdmissionCheckParametersReference parameters) {}
