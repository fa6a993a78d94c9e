package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/** A node that failed. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record UnhealthyNode(@Required @JsonPropertyDescription("Name of the node.") String name) {}
