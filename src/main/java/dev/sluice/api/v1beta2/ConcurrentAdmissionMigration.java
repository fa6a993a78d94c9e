package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** When a running workload moves to a preferred flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConcurrentAdmissionMigration(
    @Required
        @Text(max = 253)
        @JsonPropertyDescription(
            "TryPreferredFlavors: move when a flavor earlier in the list becomes free. "
                + "RetainFirstAdmission: stay where the workload was first admitted.")
        ConcurrentAdmissionMode mode,
    @JsonPropertyDescription("Limits of such moves. Only with mode TryPreferredFlavors.")
        @Nullable ConcurrentAdmissionMigrationConstraints constraints) {}
