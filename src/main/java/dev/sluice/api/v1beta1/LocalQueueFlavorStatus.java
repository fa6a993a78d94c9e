package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListSet;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A flavor that the cluster queue of a local queue offers. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueFlavorStatus(
    @Required
        @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Name of the flavor.")
        String name,
    @Size(max = 8)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Labels of the nodes of this flavor.")
        Map<String, String> nodeLabels,
    @Size(max = 8)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Taints of the nodes of this flavor.")
        List<Taint> nodeTaints,
    @Size(max = 64)
        @ListSet
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Names of the resources offered.")
        List<String> resources,
    @JsonPropertyDescription("Topology of the nodes of this flavor.")
        @Nullable LocalQueueTopologyInfo topology) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueFlavorStatus {
    nodeLabels = Defaults.orEmpty(nodeLabels);
    nodeTaints = Defaults.orEmpty(nodeTaints);
    resources = Defaults.orEmpty(resources);
  }
}
