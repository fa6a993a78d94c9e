package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Required;

/** State of one preemption gate. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PreemptionGateState(
    @Required @Text(min = 1, max = 63) @JsonPropertyDescription("Name of the gate.") String name,
    @Required @DateTime @JsonPropertyDescription("When the position last changed.")
        String lastTransitionTime,
    @Required @JsonPropertyDescription("Closed or Open.") PreemptionGatePosition position) {}
