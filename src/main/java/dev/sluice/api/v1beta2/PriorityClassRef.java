package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.OneOf;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.ValidationRule;

/** Names the class that a priority comes from. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "(self.group == 'scheduling.k8s.io') == (self.kind == 'PriorityClass')",
    messageExpression =
        "'kind ' + self.kind + ' does not belong to group ' + self.group + ': "
            + "PriorityClass is of scheduling.k8s.io, WorkloadPriorityClass of "
            + "kueue.x-k8s.io'",
    fieldPath = ".kind")
public record PriorityClassRef(
    @Required
        @Text(min = 1, max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Name of the class.")
        String name,
    @Required
        @OneOf({"kueue.x-k8s.io", "scheduling.k8s.io"})
        @JsonPropertyDescription(
            "API group of the class: kueue.x-k8s.io for WorkloadPriorityClass, "
                + "scheduling.k8s.io for PriorityClass.")
        String group,
    @Required
        @OneOf({"WorkloadPriorityClass", "PriorityClass"})
        @JsonPropertyDescription("Kind of the class: WorkloadPriorityClass or PriorityClass.")
        String kind) {}
