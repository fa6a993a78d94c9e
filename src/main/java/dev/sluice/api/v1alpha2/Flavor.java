package dev.sluice.api.v1alpha2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;

/** Quota of one resource in one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Flavor(
    @Required
        @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Name of the ResourceFlavor.")
        String name,
    @Required @JsonPropertyDescription("How much there is.") Quota quota) {}
