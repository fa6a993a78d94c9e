package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** What is in use of one resource of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ResourceUsage(
    @Required @JsonPropertyDescription("Name of the resource.") String name,
    @JsonPropertyDescription("Part of the total that is borrowed from the cohort.")
        @Nullable Quantity borrowed,
    @JsonPropertyDescription("Amount in use, the borrowed part included.")
        @Nullable Quantity total) {}
