package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;

/** Past usage that fair admission goes by. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionFairSharingStatus(
    @Required
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Usage over time by resource, in which older usage counts less and less.")
        Map<String, Quantity> consumedResources,
    @Required
        @DateTime
        @JsonPropertyDescription("When consumedResources was last brought up to date.")
        String lastUpdate) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionFairSharingStatus {
    consumedResources = Defaults.orEmpty(consumedResources);
  }
}
