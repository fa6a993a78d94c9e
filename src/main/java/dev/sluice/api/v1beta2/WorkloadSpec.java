package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a job asks for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "!has(self.priorityClassRef) || has(self.priority)",
    messageExpression =
        "'priority must be set, because priorityClassRef names ' + " + "self.priorityClassRef.name",
    fieldPath = ".priority")
public record WorkloadSpec(
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
    @Size(min = 1, max = 18)
        @ValidationRule(
            value = "self.filter(p, has(p.minCount)).size() <= 1",
            message = "minCount is allowed in one pod set at most")
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Groups of equal pods, at most one of them with minCount. They can't be "
                + "changed while the workload holds quota.")
        List<PodSet> podSets,
    @Size(max = 8)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Gates that keep the workload from preempting others until each is opened in "
                + "the status.")
        List<PreemptionGate> preemptionGates,
    @JsonPropertyDescription(
            "Priority; larger goes first. Required when a priority class is named.")
        @Nullable Integer priority,
    @JsonPropertyDescription("Class that the priority comes from.")
        @Nullable PriorityClassRef priorityClassRef,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Local queue, in the namespace of the workload, that it waits in. It can't "
                + "be changed while the workload holds quota.")
        @Nullable String queueName) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public WorkloadSpec {
    active = Defaults.or(active, true);
    podSets = Defaults.orEmpty(podSets);
    preemptionGates = Defaults.orEmpty(preemptionGates);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .active(active)
        .maximumExecutionTimeSeconds(maximumExecutionTimeSeconds)
        .podSets(podSets)
        .preemptionGates(preemptionGates)
        .priority(priority)
        .priorityClassRef(priorityClassRef)
        .queueName(queueName);
  }

  /** Collects the parts of a {@link WorkloadSpec}; each method is named after the field it sets. */
  public static final class Builder {
    private Boolean active = true;
    private @Nullable Integer maximumExecutionTimeSeconds;
    private List<PodSet> podSets = List.of();
    private List<PreemptionGate> preemptionGates = List.of();
    private @Nullable Integer priority;
    private @Nullable PriorityClassRef priorityClassRef;
    private @Nullable String queueName;

    private Builder() {}

    /** Sets the field of this name. */
    public Builder active(Boolean active) {
      this.active = active;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder maximumExecutionTimeSeconds(@Nullable Integer maximumExecutionTimeSeconds) {
      this.maximumExecutionTimeSeconds = maximumExecutionTimeSeconds;
      return this;
    }

    /** Sets the field of this name. */
    public Builder podSets(List<PodSet> podSets) {
      this.podSets = podSets;
      return this;
    }

    /** Sets the field of this name. */
    public Builder preemptionGates(List<PreemptionGate> preemptionGates) {
      this.preemptionGates = preemptionGates;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder priority(@Nullable Integer priority) {
      this.priority = priority;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder priorityClassRef(@Nullable PriorityClassRef priorityClassRef) {
      this.priorityClassRef = priorityClassRef;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder queueName(@Nullable String queueName) {
      this.queueName = queueName;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public WorkloadSpec build() {
      return new WorkloadSpec(
          active,
          maximumExecutionTimeSeconds,
          podSets,
          preemptionGates,
          priority,
          priorityClassRef,
          queueName);
    }
  }
}
