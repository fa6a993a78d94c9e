package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** The admission checks of a cluster queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionChecksStrategy(
    @JsonInclude(JsonInclude.Include.ALWAYS) List<AdmissionCheckStrategyRule> admissionChecks) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionChecksStrategy {
    admissionChecks = Defaults.orEmpty(admissionChecks);
  }
}
