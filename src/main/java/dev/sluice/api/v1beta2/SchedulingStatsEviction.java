package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;

/** How often a workload was evicted for one reason. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SchedulingStatsEviction(
    @Required @Text(max = 316) @JsonPropertyDescription("Reason of the eviction.") String reason,
    @Required @Text(max = 316) @JsonPropertyDescription("Finer reason, or empty.")
        String underlyingCause,
    @Required @Min(0) @JsonPropertyDescription("How often.") Integer count) {}
