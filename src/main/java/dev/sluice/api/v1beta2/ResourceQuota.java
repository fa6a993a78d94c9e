package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.NonNegative;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** Quota of one resource of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ResourceQuota(
    @Required
        @JsonPropertyDescription(
            "Name of the resource; the same as the entry of coveredResources at this " + "place.")
        String name,
    @Required @NonNegative @JsonPropertyDescription("Amount that is guaranteed. Not negative.")
        Quantity nominalQuota,
    @NonNegative
        @JsonPropertyDescription(
            "Most that may be used beyond nominalQuota when others leave it idle. "
                + "Absent: no limit. Needs a cohort.")
        @Nullable Quantity borrowingLimit,
    @NonNegative
        @JsonPropertyDescription(
            "Most of the nominal quota that others may use while it is idle here. "
                + "Absent: all of it. Needs a cohort.")
        @Nullable Quantity lendingLimit) {}
