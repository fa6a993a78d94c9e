package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;

/** One level of a topology. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologyLevel(
    @Required
        @Text(min = 1, max = 316)
        @Pattern(Patterns.QUALIFIED_NAME)
        @JsonPropertyDescription(
            "Node label whose value tells to which domain of this level a node belongs, "
                + "such as topology.kubernetes.io/rack.")
        String nodeLabel) {}
