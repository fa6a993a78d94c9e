package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import dev.sluice.api.schema.Values;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a pod set was given. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetAssignment(
    @Default("main")
        @Text(max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the pod set.")
        String name,
    @Min(0) @JsonPropertyDescription("Number of pods the quota is for.") @Nullable Integer count,
    @Text(max = 7)
        @JsonPropertyDescription(
            "Set when the place of the pods is decided only after the admission checks: "
                + "Pending until then, Ready afterwards.")
        @Nullable DelayedTopologyRequestState delayedTopologyRequest,
    @Values(maxLength = 253, pattern = Patterns.DNS_SUBDOMAIN)
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Flavor by resource.")
        Map<String, String> flavors,
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Quota by resource for all the pods of the assignment together.")
        Map<String, Quantity> resourceUsage,
    @JsonPropertyDescription("Where the pods are to run.")
        @Nullable TopologyAssignment topologyAssignment) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public PodSetAssignment {
    name = Defaults.or(name, "main");
    flavors = Defaults.orEmpty(flavors);
    resourceUsage = Defaults.orEmpty(resourceUsage);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .name(name)
        .count(count)
        .delayedTopologyRequest(delayedTopologyRequest)
        .flavors(flavors)
        .resourceUsage(resourceUsage)
        .topologyAssignment(topologyAssignment);
  }

  /**
   * Collects the parts of a {@link PodSetAssignment}; each method is named after the field it sets.
   */
  public static final class Builder {
    private String name = "main";
    private @Nullable Integer count;
    private @Nullable DelayedTopologyRequestState delayedTopologyRequest;
    private Map<String, String> flavors = Map.of();
    private Map<String, Quantity> resourceUsage = Map.of();
    private @Nullable TopologyAssignment topologyAssignment;

    private Builder() {}

    /** Sets the field of this name. */
    public Builder name(String name) {
      this.name = name;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder count(@Nullable Integer count) {
      this.count = count;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder delayedTopologyRequest(
        @Nullable DelayedTopologyRequestState delayedTopologyRequest) {
      this.delayedTopologyRequest = delayedTopologyRequest;
      return this;
    }

    /** Sets the field of this name. */
    public Builder flavors(Map<String, String> flavors) {
      this.flavors = flavors;
      return this;
    }

    /** Sets the field of this name. */
    public Builder resourceUsage(Map<String, Quantity> resourceUsage) {
      this.resourceUsage = resourceUsage;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder topologyAssignment(@Nullable TopologyAssignment topologyAssignment) {
      this.topologyAssignment = topologyAssignment;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public PodSetAssignment build() {
      return new PodSetAssignment(
          name, count, delayedTopologyRequest, flavors, resourceUsage, topologyAssignment);
    }
  }
}
