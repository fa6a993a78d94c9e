package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;

/** Names a ClusterProfile of the operator's namespace. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterProfileReference(
    @Required @Text(min = 1, max = 256) @JsonPropertyDescription("Name of the ClusterProfile.")
        String name) {}
