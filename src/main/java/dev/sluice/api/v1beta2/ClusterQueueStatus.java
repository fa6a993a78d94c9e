package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a cluster queue holds at present. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueueStatus(
    @Nullable Integer admittedWorkloads,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions,
    @Nullable FairSharingStatus fairSharing,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<FlavorUsage> flavorsReservation,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<FlavorUsage> flavorsUsage,
    @Nullable Integer pendingWorkloads,
    @Nullable Integer reservingWorkloads) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueueStatus {
    conditions = Defaults.orEmpty(conditions);
    flavorsReservation = Defaults.orEmpty(flavorsReservation);
    flavorsUsage = Defaults.orEmpty(flavorsUsage);
  }

  /** The same status with other conditions. */
  public ClusterQueueStatus withConditions(List<Condition> others) {
    return new ClusterQueueStatus(
        admittedWorkloads,
        others,
        fairSharing,
        flavorsReservation,
        flavorsUsage,
        pendingWorkloads,
        reservingWorkloads);
  }
}
