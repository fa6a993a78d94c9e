package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a local queue holds at present. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueStatus(
    @Nullable Integer admittedWorkloads,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions,
    @Nullable LocalQueueFairSharingStatus fairSharing,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<LocalQueueFlavorUsage> flavorsReservation,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<LocalQueueFlavorUsage> flavorsUsage,
    @Nullable Integer pendingWorkloads,
    @Nullable Integer reservingWorkloads) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueStatus {
    conditions = Defaults.orEmpty(conditions);
    flavorsReservation = Defaults.orEmpty(flavorsReservation);
    flavorsUsage = Defaults.orEmpty(flavorsUsage);
  }
}
