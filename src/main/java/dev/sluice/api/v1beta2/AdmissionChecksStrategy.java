package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** The admission checks of a cluster queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionChecksStrategy(
    @Required
        @Size(min = 1, max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("The checks, each with the flavors it is for.")
        List<AdmissionCheckStrategyRule> admissionChecks) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionChecksStrategy {
    admissionChecks = Defaults.orEmpty(admissionChecks);
  }
}
