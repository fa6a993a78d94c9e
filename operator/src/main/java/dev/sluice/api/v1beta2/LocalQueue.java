package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.ClusterQueue.StopPolicy;
import dev.sluice.api.v1beta2.FairSharing.AdmissionFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueResourceUsage;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueSpec;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueStatus;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The queue that the jobs of a namespace are sent to; it leads to a cluster queue. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("localqueues")
public final class LocalQueue extends EmptyResource<LocalQueueSpec, LocalQueueStatus>
    implements Namespaced {

  /** Makes an object that has metadata and no spec or status. */
  public LocalQueue() {}

  /** The cluster queue behind a local queue. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LocalQueueSpec(
      @Nullable String clusterQueue, @Nullable FairSharing fairSharing, StopPolicy stopPolicy) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public LocalQueueSpec {
      stopPolicy = Defaults.or(stopPolicy, StopPolicy.NONE);
    }
  }

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

  /** Past usage of a local queue. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LocalQueueFairSharingStatus(
      Long weightedShare, @Nullable AdmissionFairSharingStatus admissionFairSharingStatus) {}

  /** What a local queue uses of one resource of one flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LocalQueueResourceUsage(String name, @Nullable Quantity total) {}

  /** What a local queue uses of one flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LocalQueueFlavorUsage(
      String name,
      @JsonInclude(JsonInclude.Include.ALWAYS) List<LocalQueueResourceUsage> resources) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public LocalQueueFlavorUsage {
      resources = Defaults.orEmpty(resources);
    }
  }
}
