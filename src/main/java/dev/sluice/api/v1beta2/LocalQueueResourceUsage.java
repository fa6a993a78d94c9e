package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** What a local queue uses of one resource of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueResourceUsage(
    @Required @JsonPropertyDescription("Name of the resource.") String name,
    @JsonPropertyDescription("Amount in use.") @Nullable Quantity total) {}
