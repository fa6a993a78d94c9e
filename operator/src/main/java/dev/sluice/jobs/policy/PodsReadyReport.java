package dev.sluice.jobs.policy;

import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Decides what is written about the readiness of a job's pods, and when. The pods of a short job
 * are ready moments before it ends; then one write says both.
 */
final class PodsReadyReport {

  /** How long the write may wait for the end of the job. */
  private static final Duration SHORT_JOB = Duration.ofSeconds(2);

  private final JobOptions options;
  private final RemoteExecutionCheck remoteExecutionCheck;

  PodsReadyReport(JobOptions options, RemoteExecutionCheck remoteExecutionCheck) {
    this.options = options;
    this.remoteExecutionCheck = remoteExecutionCheck;
  }

  /** The write that is due about the readiness of the pods; empty if there is none. */
  List<JobAction> decide(ReconcileContext context, CachedWorkload workload) {
    if (!options.podsReady(workload)) {
      return List.of();
    }
    boolean ready = isReady(context, workload);
    PatchStatus write = write(context, workload, ready, context.now());
    if (write.status().isEmpty()) {
      return List.of();
    }
    return List.of(
        ready && mayWait(workload, context.now())
            ? new JobAction.PatchStatusSoon(
                since -> write(context, workload, true, since), SHORT_JOB)
            : write);
  }

  private static PatchStatus write(
      ReconcileContext context, CachedWorkload workload, boolean ready, Instant since) {
    return new PatchStatus(
        workload,
        WorkloadStatuses.podsReady(workload, ready, since),
        "podsReady=" + context.job().state().podsReady());
  }

  /** Adds the readiness of an admitted job that ended, unless it was written before. */
  StatusPatch withEnd(StatusPatch patch, ReconcileContext context, CachedWorkload workload) {
    return options.podsReady(workload) && workload.admitted() && context.job().state().podsReady()
        ? PodsReady.synced(patch, true)
        : patch;
  }

  private boolean isReady(ReconcileContext context, CachedWorkload workload) {
    JobState state = context.job().state();
    return state.podsReady()
        && (!state.suspended() || remoteExecutionCheck.runs(context.job(), workload));
  }

  /**
   * Whether nobody waits for just this. Readiness that was lost is told at once, since a time-out
   * may be about to end.
   */
  private boolean mayWait(CachedWorkload workload, Instant now) {
    boolean firstTime =
        workload
            .status()
            .condition(PodsReady.TYPE)
            .map(Condition::reason)
            .filter(reason -> !reason.equals(PodsReady.WAIT_FOR_START))
            .isEmpty();
    boolean early =
        workload
            .status()
            .condition("Admitted")
            .map(Condition::lastTransitionTime)
            .filter(admitted -> now.isBefore(admitted.plus(options.readiness().quickStart())))
            .isPresent();
    return firstTime && early && !options.clusterState().startRules().apply(workload).awaitPods();
  }
}
