package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;

/** A gate that keeps a workload from preempting others. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PreemptionGate(
    @Required @Text(min = 1, max = 63) @JsonPropertyDescription("Name of the gate.") String name) {}
