package dev.sluice.jobs.policy;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobPolicy.OwnedWorkloads;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides about the Workloads of a job that no longer names a queue. The Workload of a suspended
 * job is deleted, so that its quota is released. A running job goes on, and its quota is released
 * when it ends; until then it is evicted as any other.
 */
final class UnqueuedJobPolicy {

  private final ReconcileContext reconcileContext;
  private final JobOptions options;
  private final List<CachedWorkload> leaving = new ArrayList<>();
  private final List<CachedWorkload> live = new ArrayList<>();

  private UnqueuedJobPolicy(ReconcileContext reconcileContext, JobOptions options) {
    this.reconcileContext = reconcileContext;
    this.options = options;
    for (CachedWorkload workload : reconcileContext.owned()) {
      if (!isMadeFor(reconcileContext.job(), workload, options)) {
        continue;
      }
      if (workload.deleting()) {
        leaving.add(workload);
      } else if (!workload.finished()) {
        live.add(workload);
      }
    }
  }

  /**
   * Whether the framework created the Workload for the job; Workloads of other controllers are left
   * alone.
   */
  private static boolean isMadeFor(CachedJob job, CachedWorkload workload, JobOptions options) {
    String uid = workload.labels().getOrDefault(KueueConstants.JOB_UID, "");
    return uid.equals(job.ref().uid()) || uid.equals(options.clusterState().jobUid().apply(job));
  }

  /** The actions on the Workloads of an unmanaged job; empty in namespaces that are not managed. */
  static List<JobAction> decide(ReconcileContext reconcileContext, JobOptions options) {
    boolean handled = options.managedNamespaces().test(reconcileContext.job().ref().namespace());
    return handled ? new UnqueuedJobPolicy(reconcileContext, options).decide() : List.of();
  }

  private List<JobAction> decide() {
    JobState state = reconcileContext.job().state();
    if (live.isEmpty() && leaving.isEmpty()) {
      return List.of();
    }
    if (state.end().isPresent()) {
      List<JobAction> actions = new ArrayList<>(JobPolicy.releaseOwner(leaving));
      live.forEach(
          workload ->
              actions.add(JobPolicy.finish(reconcileContext, workload, state.end().orElseThrow())));
      return actions;
    }
    if (!state.suspended()) {
      Optional<CachedWorkload> evicted =
          live.stream().filter(it -> it.quotaReserved() && it.evicted()).findFirst();
      if (evicted.isPresent()) {
        return List.of(Stop.evicted(evicted.get()));
      }
      return takenAway(live.stream().filter(workload -> !workload.quotaReserved()).toList());
    }
    if (state.stopUnfinished()) {
      return List.of(
          new Stop(
              StopReason.WORKLOAD_DELETED,
              OwnedWorkloads.of(reconcileContext, options).original(),
              "Stopping is completed"));
    }
    return state.active() ? List.of() : takenAway(live);
  }

  private List<JobAction> takenAway(List<CachedWorkload> unwanted) {
    List<JobAction> actions = new ArrayList<>(JobPolicy.releaseOwner(leaving));
    unwanted.forEach(
        workload -> actions.add(new DeleteWorkload(workload, "its job names no queue any more")));
    return actions;
  }
}
