package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The worker clusters a job may be sent to. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueConfigSpec(
    @Required
        @Size(min = 1, max = 20)
        @Items(maxLength = 256)
        @ValidationRule(
            value = "self.all(c, self.exists_one(d, d == c))",
            messageExpression =
                "'names of clusters must be unique, here they are %s'.format([self])")
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("Names of the MultiKueueCluster objects, each once.")
        List<String> clusters,
    @JsonPropertyDescription(
            "Automated: the quota of the cluster queue here is kept at the sum of the "
                + "workers' quotas. Manual or absent: it is what was written. Needs the "
                + "feature gate MultiKueueManagerQuotaAutomation.")
        @Nullable QuotaManagement quotaManagement) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public MultiKueueConfigSpec {
    clusters = Defaults.orEmpty(clusters);
  }
}
