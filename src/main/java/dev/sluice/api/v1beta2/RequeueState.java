package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.DateTime;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/** How long an evicted workload is held back. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RequeueState(
    @Min(0) @JsonPropertyDescription("How often the workload was queued again.")
        @Nullable Integer count,
    @DateTime @JsonPropertyDescription("When the workload is queued again.")
        @Nullable String requeueAt) {}
