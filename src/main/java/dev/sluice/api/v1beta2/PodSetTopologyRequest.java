package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How the pods of a pod set are to be placed together. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetTopologyRequest(
    @Text(max = 63)
        @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which has to hold "
                + "all the pods.")
        @Nullable String required,
    @Text(max = 63)
        @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which should hold "
                + "all the pods; wider ones will do.")
        @Nullable String preferred,
    @Text(max = 317)
        @JsonPropertyDescription("Label of the pods that holds their index in the group.")
        @Nullable String podIndexLabel,
    @Text(max = 256)
        @JsonPropertyDescription(
            "Pod sets with the same group name are put on the same flavor and into the "
                + "same domain.")
        @Nullable String podSetGroupName,
    @Text(max = 63)
        @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which has to hold "
                + "each slice of podSetSliceSize pods.")
        @Nullable String podSetSliceRequiredTopology,
    @Min(1)
        @JsonPropertyDescription(
            "Number of pods in a slice. Goes with podSetSliceRequiredTopology.")
        @Nullable Integer podSetSliceSize,
    @Size(max = 3)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Slices within slices: for each level the size of its slices, the widest "
                + "level first.")
        List<PodSetSliceRequiredTopologyConstraint> podsetSliceRequiredTopologyConstraints,
    @Min(0)
        @JsonPropertyDescription("Number of sub-groups, such as the jobs of one replicated job.")
        @Nullable Integer subGroupCount,
    @Text(max = 317)
        @JsonPropertyDescription("Label of the pods that holds the index of their sub-group.")
        @Nullable String subGroupIndexLabel,
    @JsonPropertyDescription("Placed wherever there is room, but counted against the topology.")
        @Nullable Boolean unconstrained) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public PodSetTopologyRequest {
    podsetSliceRequiredTopologyConstraints =
        Defaults.orEmpty(podsetSliceRequiredTopologyConstraints);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .required(required)
        .preferred(preferred)
        .podIndexLabel(podIndexLabel)
        .podSetGroupName(podSetGroupName)
        .podSetSliceRequiredTopology(podSetSliceRequiredTopology)
        .podSetSliceSize(podSetSliceSize)
        .podsetSliceRequiredTopologyConstraints(podsetSliceRequiredTopologyConstraints)
        .subGroupCount(subGroupCount)
        .subGroupIndexLabel(subGroupIndexLabel)
        .unconstrained(unconstrained);
  }

  /**
   * Collects the parts of a {@link PodSetTopologyRequest}; each method is named after the field it
   * sets.
   */
  public static final class Builder {
    private @Nullable String required;
    private @Nullable String preferred;
    private @Nullable String podIndexLabel;
    private @Nullable String podSetGroupName;
    private @Nullable String podSetSliceRequiredTopology;
    private @Nullable Integer podSetSliceSize;
    private List<PodSetSliceRequiredTopologyConstraint> podsetSliceRequiredTopologyConstraints =
        List.of();
    private @Nullable Integer subGroupCount;
    private @Nullable String subGroupIndexLabel;
    private @Nullable Boolean unconstrained;

    private Builder() {}

    /** Sets the field of this name; null for absent. */
    public Builder required(@Nullable String required) {
      this.required = required;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder preferred(@Nullable String preferred) {
      this.preferred = preferred;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder podIndexLabel(@Nullable String podIndexLabel) {
      this.podIndexLabel = podIndexLabel;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder podSetGroupName(@Nullable String podSetGroupName) {
      this.podSetGroupName = podSetGroupName;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder podSetSliceRequiredTopology(@Nullable String podSetSliceRequiredTopology) {
      this.podSetSliceRequiredTopology = podSetSliceRequiredTopology;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder podSetSliceSize(@Nullable Integer podSetSliceSize) {
      this.podSetSliceSize = podSetSliceSize;
      return this;
    }

    /** Sets the field of this name. */
    public Builder podsetSliceRequiredTopologyConstraints(
        List<PodSetSliceRequiredTopologyConstraint> podsetSliceRequiredTopologyConstraints) {
      this.podsetSliceRequiredTopologyConstraints = podsetSliceRequiredTopologyConstraints;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder subGroupCount(@Nullable Integer subGroupCount) {
      this.subGroupCount = subGroupCount;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder subGroupIndexLabel(@Nullable String subGroupIndexLabel) {
      this.subGroupIndexLabel = subGroupIndexLabel;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder unconstrained(@Nullable Boolean unconstrained) {
      this.unconstrained = unconstrained;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public PodSetTopologyRequest build() {
      return new PodSetTopologyRequest(
          required,
          preferred,
          podIndexLabel,
          podSetGroupName,
          podSetSliceRequiredTopology,
          podSetSliceSize,
          podsetSliceRequiredTopologyConstraints,
          subGroupCount,
          subGroupIndexLabel,
          unconstrained);
    }
  }
}
