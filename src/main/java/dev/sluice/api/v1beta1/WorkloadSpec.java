package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.OneOf;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a job asks for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "!has(self.priorityClassName) || self.priorityClassName == '' || " + "has(self.priority)",
    messageExpression =
        "'priority must be set, because priorityClassName is ' + " + "self.priorityClassName",
    fieldPath = ".priority")
public record WorkloadSpec(
    @Required
        @Size(min = 1, max = 18)
        @ValidationRule(
            value = "self.filter(p, has(p.minCount)).size() <= 1",
            message = "minCount is allowed in one pod set at most")
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Groups of equal pods, at most one of them with minCount. They can't be "
                + "changed while the workload holds quota.")
        List<PodSet> podSets,
    @Default("true")
        @JsonPropertyDescription(
            "Whether the workload may be admitted. Set to false, a waiting workload is "
                + "passed over and an admitted one is evicted.")
        Boolean active,
    @Min(1)
        @JsonPropertyDescription(
            "Seconds the workload may be admitted in total, after which it is stopped "
                + "for good. It can't be changed while the workload is admitted.")
        @Nullable Integer maximumExecutionTimeSeconds,
    @JsonPropertyDescription(
            "Priority; larger goes first. Required when a priority class is named.")
        @Nullable Integer priority,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Local queue, in the namespace of the workload, that it waits in. It can't "
                + "be changed while the workload holds quota.")
        @Nullable String queueName,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Name of the class that the priority comes from.")
        @Nullable String priorityClassName,
    @OneOf({"kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass", ""})
        @JsonPropertyDescription(
            "Kind of the class that the priority comes from: "
                + "kueue.x-k8s.io/workloadpriorityclass, scheduling.k8s.io/priorityclass, or "
                + "empty for none.")
        @Nullable String priorityClassSource) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public WorkloadSpec {
    podSets = Defaults.orEmpty(podSets);
    active = Defaults.or(active, true);
  }
}
