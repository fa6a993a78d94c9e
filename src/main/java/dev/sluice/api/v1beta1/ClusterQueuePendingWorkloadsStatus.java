package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Required;
import java.util.List;

/** The first waiting workloads of a queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueuePendingWorkloadsStatus(
    @Required @DateTime @JsonPropertyDescription("When the list last changed.")
        String lastChangeTime,
    @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("The first waiting workloads in order.")
        List<ClusterQueuePendingWorkload> clusterQueuePendingWorkload) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueuePendingWorkloadsStatus {
    clusterQueuePendingWorkload = Defaults.orEmpty(clusterQueuePendingWorkload);
  }
}
