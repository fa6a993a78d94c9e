package dev.sluice.api.v1alpha2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.NonNegative;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** What is guaranteed and what is the most: borrowing from the cohort may reach the difference. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Quota(
    @NonNegative
        @JsonPropertyDescription("Amount that is guaranteed; absent means none. Not negative.")
        @Nullable Quantity min,
    @NonNegative
        @JsonPropertyDescription(
            "Most that may be used, borrowing included; absent means no limit. Not below "
                + "min. Without a cohort and without min it is the amount that is guaranteed.")
        @Nullable Quantity max) {}
