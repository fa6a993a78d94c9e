package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;

/** What an admission check adds to the pods of a pod set. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodSetUpdate(
    @Required
        @Text(max = 63)
        @Pattern(Patterns.DNS_LABEL)
        @JsonPropertyDescription("Name of the pod set.")
        String name,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Labels to add.")
        Map<String, String> labels,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonPropertyDescription("Annotations to add.")
        Map<String, String> annotations,
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Node selector entries to add.")
        Map<String, String> nodeSelector,
    @Size(max = 8)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Tolerations to add.")
        List<Toleration> tolerations) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public PodSetUpdate {
    labels = Defaults.orEmpty(labels);
    annotations = Defaults.orEmpty(annotations);
    nodeSelector = Defaults.orEmpty(nodeSelector);
    tolerations = Defaults.orEmpty(tolerations);
  }
}
