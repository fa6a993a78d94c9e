package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.v1beta2.FlavorUsage;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a cluster queue holds at present. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueueStatus(
    @JsonPropertyDescription("Workloads that are admitted and not finished.")
        @Nullable Integer admittedWorkloads,
    @ListMap("type")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Latest observations. Active tells whether workloads can be admitted, and if "
                + "not, why.")
        List<Condition> conditions,
    @JsonPropertyDescription(
            "Place of the queue in fair sharing. Present only while fair sharing is on.")
        @Nullable FairSharingStatus fairSharing,
    @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Quota that is reserved by workloads, admitted or still in admission checks, "
                + "by flavor.")
        List<FlavorUsage> flavorsReservation,
    @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Quota that is used by admitted workloads, by flavor.")
        List<FlavorUsage> flavorsUsage,
    @JsonPropertyDescription(
            "Workloads that wait: those about to be tried and those set aside until "
                + "something changes.")
        @Nullable Integer pendingWorkloads,
    @JsonPropertyDescription("Workloads that hold quota and are not finished.")
        @Nullable Integer reservingWorkloads,
    @JsonPropertyDescription(
            "The first waiting workloads. Kept so that old clients can read it; no "
                + "longer written.")
        @Nullable ClusterQueuePendingWorkloadsStatus pendingWorkloadsStatus) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueueStatus {
    conditions = Defaults.orEmpty(conditions);
    flavorsReservation = Defaults.orEmpty(flavorsReservation);
    flavorsUsage = Defaults.orEmpty(flavorsUsage);
  }
}
