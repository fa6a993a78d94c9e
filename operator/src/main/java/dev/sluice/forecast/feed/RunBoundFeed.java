package dev.sluice.forecast.feed;

import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.WorkloadListener;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells the engine how long runs of Workloads take at most (docs/backfill.md#bounds), while any
 * queue plans by them: for back-fill, or to wait for a cheaper flavor, or while capacity is
 * reserved. Thread-safe.
 */
public final class RunBoundFeed implements WorkloadListener {

  /** Of runs like it, so many in ten last no longer than the estimate that is told. */
  private static final double QUANTILE = 0.9;

  private final SchedulerEventSink eventSink;
  private final Function<CachedWorkload, WorkloadRunTime> estimates;
  private final Function<CachedWorkload, Optional<Duration>> queueLimits;
  private final BooleanSupplier used;
  private final Map<String, RunBound> told = new ConcurrentHashMap<>();

  /**
   * A feed.
   *
   * @param estimates how long a Workload runs
   * @param queueLimits the longest run that the queues of a Workload allow
   * @param used whether any queue plans by bounds, or capacity is reserved
   */
  public RunBoundFeed(
      SchedulerEventSink eventSink,
      Function<CachedWorkload, WorkloadRunTime> estimates,
      Function<CachedWorkload, Optional<Duration>> queueLimits,
      BooleanSupplier used) {
    this.eventSink = eventSink;
    this.estimates = estimates;
    this.queueLimits = queueLimits;
    this.used = used;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null && !after.finished()) {
      if (used.getAsBoolean()) {
        tell(after);
      }
    } else if (before != null) {
      told.remove(before.id().uid());
    }
  }

  /**
   * Tells of all Workloads, after the first queue began to plan by bounds, or something is kept.
   */
  public void tellAll(Iterable<CachedWorkload> workloads) {
    for (CachedWorkload workload : workloads) {
      if (!workload.finished()) {
        tell(workload);
      }
    }
  }

  private void tell(CachedWorkload workload) {
    RunBound bound = bound(workload);
    RunBound last = told.put(workload.id().uid(), bound);
    if (!bound.equals(last == null ? RunBound.UNKNOWN : last)) {
      eventSink.submit(new SchedulerEvent.RunBounded(workload.id(), bound));
    }
  }

  private RunBound bound(CachedWorkload workload) {
    Duration before = beforeTheRun(workload);
    WorkloadRunTime runTime = estimates.apply(workload);
    Duration age = runTime.age().orElse(Duration.ZERO);
    return new RunBound(
        RunTimeEstimator.limit(workload).map(limit -> positive(limit.plus(before))),
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
