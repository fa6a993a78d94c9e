package dev.sluice.core.engine;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.QuotaHolder.QuotaHolderExport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the engine knows of a Workload beside its item in a queue, as a value
 * (docs/engine-state.md). The stage follows from what is there: with a reservation the Workload is
 * assumed while it is retained, too, and reserving otherwise; without one it is pending.
 *
 * @param id identity of the Workload
 * @param queueName name of the LocalQueue, in the Workload's namespace
 * @param version the resourceVersion of the last event, as a number
 * @param retained the Workload as it is enqueued again; empty if it needn't be kept
 * @param reservation the reserved quota; empty if none is reserved
 * @param residue what is left of earlier events
 */
public record WorkloadExport(
    WorkloadId id,
    String queueName,
    long version,
    Optional<PendingWorkload> retained,
    Optional<ReservationExport> reservation,
    ResidueExport residue) {

  /**
   * Reserved quota.
   *
   * @param clusterQueue the ClusterQueue whose quota is reserved
   * @param holder the reserved amounts that are charged
   * @param admitted whether the Workload is admitted
   * @param awaitsPods whether admission of other Workloads waits for the pods
   * @param protection what protects the Workload from preemption for some time
   * @param granted what was granted to a slice of an elastic job; empty for other Workloads
   */
  public record ReservationExport(
      String clusterQueue,
      QuotaHolderExport holder,
      boolean admitted,
      boolean awaitsPods,
      PreemptionProtection protection,
      Optional<GrantedExport> granted) {}

  /** What was granted to a slice, in whole. */
  public record GrantedExport(QuotaHolderExport holder, List<PodSetAssignment> podSets) {

    public GrantedExport {
      podSets = List.copyOf(podSets);
    }
  }

  /**
   * What is left of earlier events.
   *
   * @param slice what makes the Workload a slice of an elastic job; empty for other Workloads
   * @param evictionDecided the version for which the eviction was decided; -1 if it wasn't
   * @param lacking what the API server reports of a Workload that lacks places; empty if it lacks
   *     none
   * @param refusalBackoffUntil the end of the backoff after a refused admission; empty without
   */
  public record ResidueExport(
      Optional<JobSlice> slice,
      long evictionDecided,
      Optional<ReservingWorkload> lacking,
      Optional<Instant> refusalBackoffUntil) {}
}
