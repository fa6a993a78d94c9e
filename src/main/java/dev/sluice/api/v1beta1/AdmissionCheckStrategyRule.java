package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;
import java.util.List;

/** One admission check of a cluster queue and the flavors it is for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckStrategyRule(
    @Required @Text(max = 316) @JsonPropertyDescription("Name of the AdmissionCheck.") String name,
    @Items(maxLength = 253, pattern = Patterns.DNS_SUBDOMAIN)
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Flavors for which the check is needed; each has to be a flavor of this "
                + "queue. Absent or empty: needed whatever the flavor.")
        List<String> onFlavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionCheckStrategyRule {
    onFlavors = Defaults.orEmpty(onFlavors);
  }
}
