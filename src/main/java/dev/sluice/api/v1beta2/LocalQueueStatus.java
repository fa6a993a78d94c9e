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

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .admittedWorkloads(admittedWorkloads)
        .conditions(conditions)
        .fairSharing(fairSharing)
        .flavorsReservation(flavorsReservation)
        .flavorsUsage(flavorsUsage)
        .pendingWorkloads(pendingWorkloads)
        .reservingWorkloads(reservingWorkloads);
  }

  /**
   * Collects the parts of a {@link LocalQueueStatus}; each method is named after the field it sets.
   */
  public static final class Builder {
    private @Nullable Integer admittedWorkloads;
    private List<Condition> conditions = List.of();
    private @Nullable LocalQueueFairSharingStatus fairSharing;
    private List<LocalQueueFlavorUsage> flavorsReservation = List.of();
    private List<LocalQueueFlavorUsage> flavorsUsage = List.of();
    private @Nullable Integer pendingWorkloads;
    private @Nullable Integer reservingWorkloads;

    private Builder() {}

    /** Sets the field of this name; null for absent. */
    public Builder admittedWorkloads(@Nullable Integer admittedWorkloads) {
      this.admittedWorkloads = admittedWorkloads;
      return this;
    }

    /** Sets the field of this name. */
    public Builder conditions(List<Condition> conditions) {
      this.conditions = conditions;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder fairSharing(@Nullable LocalQueueFairSharingStatus fairSharing) {
      this.fairSharing = fairSharing;
      return this;
    }

    /** Sets the field of this name. */
    public Builder flavorsReservation(List<LocalQueueFlavorUsage> flavorsReservation) {
      this.flavorsReservation = flavorsReservation;
      return this;
    }

    /** Sets the field of this name. */
    public Builder flavorsUsage(List<LocalQueueFlavorUsage> flavorsUsage) {
      this.flavorsUsage = flavorsUsage;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder pendingWorkloads(@Nullable Integer pendingWorkloads) {
      this.pendingWorkloads = pendingWorkloads;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder reservingWorkloads(@Nullable Integer reservingWorkloads) {
      this.reservingWorkloads = reservingWorkloads;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public LocalQueueStatus build() {
      return new LocalQueueStatus(
          admittedWorkloads,
          conditions,
          fairSharing,
          flavorsReservation,
          flavorsUsage,
          pendingWorkloads,
          reservingWorkloads);
    }
  }
}
