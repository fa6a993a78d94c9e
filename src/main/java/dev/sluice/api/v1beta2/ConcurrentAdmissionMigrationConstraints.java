package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import org.jspecify.annotations.Nullable;

/** Limits of moves to a preferred flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConcurrentAdmissionMigrationConstraints(
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Last flavor, in the order of the queue's list, that ends the search: a "
                + "workload on it or on an earlier one is left alone. It has to be a flavor of "
                + "this queue.")
        @Nullable String lastAcceptableFlavorName) {}
