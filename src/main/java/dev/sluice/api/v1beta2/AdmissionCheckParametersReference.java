package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;

/** Names the cluster-scoped object in which the controller of a check finds its settings. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckParametersReference(
    @Required
        @Text(min = 1, max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the referenced object.")
        String name,
    @Required
        @Text(min = 1, max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("API group of the referenced object.")
        String apiGroup,
    @Required
        @Text(min = 1, max = 63)
        @Pattern("^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$")
        @JsonPropertyDescription("Kind of the referenced object.")
        String kind) {}
