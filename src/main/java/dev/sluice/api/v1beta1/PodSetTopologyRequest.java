package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** How the pods of a pod set are to be placed together. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetTopologyRequest(
    @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which has to hold "
                + "all the pods.")
        @Nullable String required,
    @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which should hold "
                + "all the pods; wider ones will do.")
        @Nullable String preferred,
    @JsonPropertyDescription("Label of the pods that holds their index in the group.")
        @Nullable String podIndexLabel,
    @JsonPropertyDescription(
            "Pod sets with the same group name are put on the same flavor and into the "
                + "same domain.")
        @Nullable String podSetGroupName,
    @JsonPropertyDescription(
            "Topology level, given by its node label, one domain of which has to hold "
                + "each slice of podSetSliceSize pods.")
        @Nullable String podSetSliceRequiredTopology,
    @Min(1)
        @JsonPropertyDescription(
            "Number of pods in a slice. Goes with podSetSliceRequiredTopology.")
        @Nullable Integer podSetSliceSize,
    @JsonPropertyDescription("Number of sub-groups, such as the jobs of one replicated job.")
        @Nullable Integer subGroupCount,
    @JsonPropertyDescription("Label of the pods that holds the index of their sub-group.")
        @Nullable String subGroupIndexLabel,
    @JsonPropertyDescription("Placed wherever there is room, but counted against the topology.")
        @Nullable Boolean unconstrained) {}
