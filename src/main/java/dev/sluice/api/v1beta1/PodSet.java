package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import org.jspecify.annotations.Nullable;

/** A group of equal pods. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "!has(self.minCount) || self.minCount <= self.count",
    messageExpression =
        "'minCount %d must not exceed count %d'.format([self.minCount, self.count])",
    fieldPath = ".minCount")
public record PodSet(
    @Default("main")
        @Text(max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the group, unique in the workload.")
        String name,
    @Required @Default("1") @Min(0) @JsonPropertyDescription("Number of pods.") Integer count,
    @Required
        @JsonPropertyDescription(
            "Pod template. Of its metadata only labels and annotations are kept.")
        PodTemplateSpec template,
    @Min(1)
        @JsonPropertyDescription(
            "Smallest number of pods the job can start with when not all fit. At most "
                + "count, and in one pod set at most.")
        @Nullable Integer minCount,
    @JsonPropertyDescription("How the pods are to be placed together.")
        @Nullable PodSetTopologyRequest topologyRequest) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public PodSet {
    name = Defaults.or(name, "main");
    count = Defaults.or(count, 1);
  }
}
