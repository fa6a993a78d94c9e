package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Default;

/** How a failed request is tried again. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProvisioningRequestRetryStrategy(
    @Default("60")
        @JsonPropertyDescription(
            "Seconds before the first new try; each further one waits twice as long.")
        Integer backoffBaseSeconds,
    @Default("3") @JsonPropertyDescription("How often it is tried again.")
        Integer backoffLimitCount,
    @Default("1800") @JsonPropertyDescription("Most seconds between two tries.")
        Integer backoffMaxSeconds) {

  /** What holds when nothing is said. */
  public static final ProvisioningRequestRetryStrategy DEFAULT =
      new ProvisioningRequestRetryStrategy(60, 3, 1800);

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ProvisioningRequestRetryStrategy {
    backoffBaseSeconds = Defaults.or(backoffBaseSeconds, 60);
    backoffLimitCount = Defaults.or(backoffLimitCount, 3);
    backoffMaxSeconds = Defaults.or(backoffMaxSeconds, 1800);
  }
}
