package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** How a workload is tried on several flavors at once. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConcurrentAdmissionPolicy(
    @Required
        @JsonPropertyDescription(
            "When a workload that already runs moves to a flavor that is preferred to "
                + "its own.")
        ConcurrentAdmissionMigration migration) {}
