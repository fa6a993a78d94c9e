package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;

/** Pods of a pod set that are no longer needed. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ReclaimablePod(
    @Required
        @Text(max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the pod set.")
        String name,
    @Required @Min(0) @JsonPropertyDescription("Number of pods whose quota can be given back.")
        Integer count) {}
