package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** The quota a workload holds. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Admission(
    @Required
        @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription("Cluster queue that the quota comes from.")
        String clusterQueue,
    @Required
        @Size(max = 18)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription("What each pod set was given.")
        List<PodSetAssignment> podSetAssignments) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public Admission {
    podSetAssignments = Defaults.orEmpty(podSetAssignments);
  }
}
