package dev.sluice.jobs.policy;

import dev.sluice.jobs.policy.JobAction.DeleteJob;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Evictions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** How long jobs are kept whose Workload the operator deactivated itself. */
public final class Retention {

  private Retention() {}

  /** The deletion of the job when it was kept long enough, or when to look again; or neither. */
  public static Optional<JobAction> of(CachedWorkload workload, JobOptions options, Instant now) {
    Optional<CachedWorkload.Condition> evicted =
        workload
            .status()
            .trueCondition("Evicted")
            .filter(condition -> condition.reason().startsWith("DeactivatedDueTo"));
    if (options.afterDeactivated().isEmpty()
        || workload.spec().active()
        || evicted.isEmpty()
        || !Evictions.isForDeactivation(workload)) {
      return Optional.empty();
    }
    Duration kept = options.afterDeactivated().get();
    Instant end = evicted.get().lastTransitionTime().plus(kept);
    return Optional.of(
        now.isBefore(end)
            ? new Requeue(Duration.between(now, end))
            : new DeleteJob(
                "Deleted",
                "Deleted "
                    + kept.toSeconds()
                    + "s after its Workload was deactivated, as configured"));
  }
}
