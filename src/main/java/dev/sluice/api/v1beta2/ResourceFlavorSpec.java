package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which nodes make up a flavor, and what pods need to run there. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "!has(self.topologyName) || has(self.nodeLabels) && size(self.nodeLabels) > 0",
    messageExpression =
        "'topologyName ' + self.topologyName + ' needs at least one entry of " + "nodeLabels'",
    fieldPath = ".nodeLabels")
public record ResourceFlavorSpec(
    @Size(max = 8)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Labels of the nodes. They become the node selector of a job that is started "
                + "on this flavor.")
        Map<String, String> nodeLabels,
    @Size(max = 8)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Taints of the nodes. Only workloads that tolerate all of them, by "
                + "themselves or through the tolerations given here, are put on this flavor. "
                + "The pair of key and effect is unique.")
        List<Taint> nodeTaints,
    @Size(max = 8)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Tolerations that a job started on this flavor is given.")
        List<Toleration> tolerations,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Topology of the nodes. Needs at least one node label; once set it can be "
                + "neither changed nor removed.")
        @Nullable String topologyName) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ResourceFlavorSpec {
    nodeLabels = Defaults.orEmpty(nodeLabels);
    nodeTaints = Defaults.orEmpty(nodeTaints);
    tolerations = Defaults.orEmpty(tolerations);
  }
}
