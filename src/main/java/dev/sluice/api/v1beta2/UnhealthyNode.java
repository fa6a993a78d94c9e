package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;

/** A node that failed. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record UnhealthyNode(
    @Required @Text(max = 63) @JsonPropertyDescription("Name of the node.") String name) {}
