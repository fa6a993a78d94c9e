package dev.sluice.forecast.feed;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;

/**
 * Says how long runs of Workloads take at most (docs/backfill.md#bounds). Of a Workload that exists
 * the engine is told so, and of one that somebody only asks about, so that both are judged alike.
 * The deadline of a job only shortens the estimate: the job's owner may change it while it runs.
 *
 * @param estimates how long a Workload runs
 * @param queueLimits the longest run that the queues of a Workload allow
 */
public record RunBounds(
    Function<CachedWorkload, WorkloadRunTime> estimates,
    Function<CachedWorkload, Optional<Duration>> queueLimits) {

  /** Of runs like it, so many in ten last no longer than the estimate that is told. */
  private static final double QUANTILE = 0.9;

  /** The bound of the next run of a Workload, or of the one that goes on. */
  public RunBound of(CachedWorkload workload) {
    Duration before = beforeTheRun(workload);
    WorkloadRunTime runTime = estimates.apply(workload);
    Duration age = runTime.age().orElse(Duration.ZERO);
    return new RunBound(
        RunTimeEstimator.enforced(workload).map(limit -> positive(limit.plus(before))),
        queueLimits.apply(workload).map(limit -> positive(limit.plus(before))),
        runTime
            .estimate()
            .remaining(age, QUANTILE)
            .map(left -> wholeMinutes(left.plus(age).plus(before))));
  }

  /**
   * The time from the reservation to the admission, where the run begins, without the part of a
   * minute that the engine allows for.
   */
  private static Duration beforeTheRun(CachedWorkload workload) {
    Optional<Instant> reserved = since(workload, "QuotaReserved");
    Optional<Instant> admitted = since(workload, "Admitted");
    if (reserved.isEmpty() || admitted.isEmpty() || admitted.get().isBefore(reserved.get())) {
      return Duration.ZERO;
    }
    return Duration.ofMinutes(Duration.between(reserved.get(), admitted.get()).toMinutes());
  }

  private static Optional<Instant> since(CachedWorkload workload, String condition) {
    return workload.status().trueCondition(condition).map(Condition::lastTransitionTime);
  }

  private static Duration positive(Duration duration) {
    return duration.isPositive() ? duration : Duration.ofSeconds(1);
  }

  /** Rounded up, so that a little more experience says nothing new. */
  private static Duration wholeMinutes(Duration duration) {
    return Duration.ofMinutes(positive(duration).plusMinutes(1).minusNanos(1).toMinutes());
  }
}
