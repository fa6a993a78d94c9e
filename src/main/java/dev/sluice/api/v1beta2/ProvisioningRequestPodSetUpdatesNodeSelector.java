package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;

/** One node selector entry. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProvisioningRequestPodSetUpdatesNodeSelector(
    @Required
        @Text(min = 1, max = 317)
        @Pattern(Patterns.QUALIFIED_NAME)
        @JsonPropertyDescription("Key of the node selector entry.")
        String key,
    @Required
        @Text(min = 1, max = 32768)
        @JsonPropertyDescription(
            "Key in status.provisioningClassDetails of the ProvisioningRequest under "
                + "which the value is found.")
        String valueFromProvisioningClassDetail) {}
