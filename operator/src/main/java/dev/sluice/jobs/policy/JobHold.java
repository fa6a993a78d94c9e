package dev.sluice.jobs.policy;

import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import java.util.List;
import java.util.Optional;

/**
 * Decides about jobs that must not have quota for now, because their kind's own controller would
 * not run them, or because what it would run can't be counted: the Workload gives up its
 * reservation and stays out of the queue, and the job is suspended, so that it does not run without
 * quota as soon as its controller would run it. Quota is given back when no pods run any more.
 */
final class JobHold {

  private JobHold() {}

  /** The actions for a job that is on hold, or is so no longer; empty for any other job. */
  static Optional<List<JobAction>> decide(
      ReconcileContext context, CachedWorkload workload, JobOptions options) {
    JobState state = context.job().state();
    Optional<String> hold = state.handling().hold();
    if (hold.isEmpty()) {
      return WorkloadStatuses.isOnHold(workload)
          ? Optional.of(List.of(released(context, workload)))
          : Optional.empty();
    }
    Stop stop = new Stop(StopReason.NOT_ADMITTED, Optional.of(workload), hold.get());
    if (state.active() && workload.status().remotePlacement().cluster().isEmpty()) {
      return Optional.of(state.suspended() ? List.of() : List.of(stop));
    }
    if (WorkloadStatuses.takesHold(workload)) {
      return Optional.of(List.of(held(context, workload, hold.get(), options)));
    }
    return Optional.of(state.suspended() && !state.stopUnfinished() ? List.of() : List.of(stop));
  }

  private static PatchStatus held(
      ReconcileContext context, CachedWorkload workload, String why, JobOptions options) {
    StatusPatch patch =
        StatusPatch.of(workload, context.now())
            .dropReservation(WorkloadStatuses.reasonToHold(workload), why);
    if (options.podsReady(workload)) {
      PodsReady.initial(patch);
    }
    Evictions.resetPlacement(patch, workload, context.now());
    return new PatchStatus(workload, patch.build(), "put on hold");
  }

  private static PatchStatus released(ReconcileContext context, CachedWorkload workload) {
    StatusPatch patch =
        StatusPatch.of(workload, context.now())
            .dropReservation("PendingEvaluation", "The job is no longer on hold");
    return new PatchStatus(workload, patch.build(), "taken from hold");
  }
}
