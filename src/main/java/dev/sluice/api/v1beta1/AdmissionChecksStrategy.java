package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import java.util.List;

/** The admission checks of a cluster queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionChecksStrategy(
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("The checks, each with the flavors it is for.")
        List<AdmissionCheckStrategyRule> admissionChecks) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionChecksStrategy {
    admissionChecks = Defaults.orEmpty(admissionChecks);
  }
}
