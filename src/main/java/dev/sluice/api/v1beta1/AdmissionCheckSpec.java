package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Who answers an admission check, and with which parameters. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckSpec(
    @Required
        @JsonPropertyDescription(
            "Name of the controller that answers this check for every workload that "
                + "needs it, such as kueue.x-k8s.io/provisioning-request or "
                + "kueue.x-k8s.io/multikueue. It can't be changed after creation.")
        String controllerName,
    @JsonPropertyDescription(
            "Cluster-scoped object that holds the controller's settings for this check. "
                + "Which kinds are understood is up to the controller.")
        @Nullable AdmissionCheckParametersReference parameters,
    @Default("15")
        @JsonPropertyDescription(
            "Minutes to wait before a check that was answered with Retry is asked again. "
                + "Kept for old manifests; it has no effect and is dropped when the object is "
                + "stored.")
        Long retryDelayMinutes) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionCheckSpec {
    retryDelayMinutes = Defaults.or(retryDelayMinutes, 15L);
  }
}
