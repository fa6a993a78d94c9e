package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.v1beta2.LocalQueueFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueueFlavorUsage;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a local queue holds at present. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueStatus(
    @JsonPropertyDescription("Workloads of this queue that are admitted and not finished.")
        @Nullable Integer admittedWorkloads,
    @ListMap("type")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Latest observations. Active tells whether workloads of this queue can be "
                + "admitted, and if not, why.")
        List<Condition> conditions,
    @JsonPropertyDescription(
            "Past usage of the queue. Present only while admission goes by past usage.")
        @Nullable LocalQueueFairSharingStatus fairSharing,
    @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("Quota that is reserved by workloads of this queue, by flavor.")
        List<LocalQueueFlavorUsage> flavorsReservation,
    @JsonPropertyDescription("Workloads of this queue that wait.")
        @Nullable Integer pendingWorkloads,
    @JsonPropertyDescription("Workloads of this queue that hold quota and are not finished.")
        @Nullable Integer reservingWorkloads,
    @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Quota that is used by admitted workloads of this queue, by flavor.")
        List<LocalQueueFlavorUsage> flavorUsage,
    @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Flavors that the cluster queue offers. Kept so that old clients can read "
                + "it; no longer written.")
        List<LocalQueueFlavorStatus> flavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueStatus {
    conditions = Defaults.orEmpty(conditions);
    flavorsReservation = Defaults.orEmpty(flavorsReservation);
    flavorUsage = Defaults.orEmpty(flavorUsage);
    flavors = Defaults.orEmpty(flavors);
  }
}
