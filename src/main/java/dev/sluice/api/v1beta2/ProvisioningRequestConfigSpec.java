package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListSet;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import dev.sluice.api.schema.Values;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How nodes are asked for. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProvisioningRequestConfigSpec(
    @Required
        @Text(min = 1, max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Class of the ProvisioningRequest, that is, who provides the nodes and how.")
        String provisioningClassName,
    @Size(max = 100)
        @ListSet
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Resources that need nodes to be asked for. Only pod sets that request one "
                + "of them are part of the request; absent or empty: all pod sets are.")
        List<String> managedResources,
    @Size(max = 100)
        @Values(maxLength = 255)
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Parameters that are copied into every ProvisioningRequest. Annotations of "
                + "the job that start with provreq.kueue.x-k8s.io/ are added and win.")
        Map<String, String> parameters,
    @JsonPropertyDescription(
            "Which pod sets share one entry of the request. IdenticalPodTemplates: those "
                + "with equal templates. IdenticalWorkloadSchedulingRequirements: those whose "
                + "templates are equal in what scheduling looks at. Absent: each has its own.")
        @Nullable PodSetMergePolicy podSetMergePolicy,
    @JsonPropertyDescription("What is added to the pods once the nodes are there.")
        @Nullable ProvisioningRequestPodSetUpdates podSetUpdates,
    @Default(
            "{\"backoffBaseSeconds\": 60, \"backoffLimitCount\": 3, \"backoffMaxSeconds\": "
                + "1800}")
        @JsonPropertyDescription("How a failed request is tried again.")
        ProvisioningRequestRetryStrategy retryStrategy) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ProvisioningRequestConfigSpec {
    managedResources = Defaults.orEmpty(managedResources);
    parameters = Defaults.orEmpty(parameters);
    retryStrategy = Defaults.or(retryStrategy, ProvisioningRequestRetryStrategy.DEFAULT);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .provisioningClassName(provisioningClassName)
        .managedResources(managedResources)
        .parameters(parameters)
        .podSetMergePolicy(podSetMergePolicy)
        .podSetUpdates(podSetUpdates)
        .retryStrategy(retryStrategy);
  }

  /**
   * Collects the parts of a {@link ProvisioningRequestConfigSpec}; each method is named after the
   * field it sets.
   */
  public static final class Builder {
    private @Nullable String provisioningClassName;
    private List<String> managedResources = List.of();
    private Map<String, String> parameters = Map.of();
    private @Nullable PodSetMergePolicy podSetMergePolicy;
    private @Nullable ProvisioningRequestPodSetUpdates podSetUpdates;
    private ProvisioningRequestRetryStrategy retryStrategy =
        ProvisioningRequestRetryStrategy.DEFAULT;

    private Builder() {}

    /** Sets the field of this name. */
    public Builder provisioningClassName(String provisioningClassName) {
      this.provisioningClassName = provisioningClassName;
      return this;
    }

    /** Sets the field of this name. */
    public Builder managedResources(List<String> managedResources) {
      this.managedResources = managedResources;
      return this;
    }

    /** Sets the field of this name. */
    public Builder parameters(Map<String, String> parameters) {
      this.parameters = parameters;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder podSetMergePolicy(@Nullable PodSetMergePolicy podSetMergePolicy) {
      this.podSetMergePolicy = podSetMergePolicy;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder podSetUpdates(@Nullable ProvisioningRequestPodSetUpdates podSetUpdates) {
      this.podSetUpdates = podSetUpdates;
      return this;
    }

    /** Sets the field of this name. */
    public Builder retryStrategy(ProvisioningRequestRetryStrategy retryStrategy) {
      this.retryStrategy = retryStrategy;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public ProvisioningRequestConfigSpec build() {
      return new ProvisioningRequestConfigSpec(
          Objects.requireNonNull(provisioningClassName, "provisioningClassName"),
          managedResources,
          parameters,
          podSetMergePolicy,
          podSetUpdates,
          retryStrategy);
    }
  }
}
