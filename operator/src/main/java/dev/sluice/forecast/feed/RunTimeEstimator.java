package dev.sluice.forecast.feed;

import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.forecast.feed.RunTimeRecorder.WorkloadRuns;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Says how long a Workload is expected to run: what it declares, what its queue declares for it,
 * what was learned, its limit (docs/run-times.md). Thread-safe.
 */
public final class RunTimeEstimator {

  private final Function<CachedWorkload, Optional<Learned>> learned;
  private final Function<CachedWorkload, Optional<QueueRunTime>> defaults;
  private final InstantSource clock;

  /**
   * An estimator.
   *
   * @param learned what runs like those of a Workload say
   * @param defaults the default of the queue of a Workload
   */
  public RunTimeEstimator(
      Function<CachedWorkload, Optional<Learned>> learned,
      Function<CachedWorkload, Optional<QueueRunTime>> defaults,
      InstantSource clock) {
    this.learned = learned;
    this.defaults = defaults;
    this.clock = clock;
  }

  /** The estimate for the run of an admitted Workload, or for the next run of another one. */
  public WorkloadRunTime of(CachedWorkload workload) {
    Optional<Duration> declared = RunTimeAnnotations.expected(workload.annotations());
    Optional<QueueRunTime> byQueue =
        declared.isPresent() ? Optional.empty() : defaults.apply(workload);
    declared = declared.or(() -> byQueue.map(QueueRunTime::runTime));
    RunTimeEstimate estimate =
        RunTimeEstimate.of(
            declared,
            declared.isPresent() ? Optional.empty() : learned.apply(workload),
            limit(workload));
    Instant now = clock.instant();
    return new WorkloadRunTime(
        estimate,
        byQueue.map(QueueRunTime::queue),
        workload.finished()
            ? Optional.empty()
            : WorkloadRuns.startedAt(workload, now)
                .map(started -> Duration.between(started, now))
                .filter(age -> !age.isNegative()));
  }

  /**
   * How long a Workload or its queue says that it runs, and no longer than what is left of its
   * limit; without such a word, that. What was learned doesn't count. Empty if nothing says so.
   */
  public Optional<Duration> stated(CachedWorkload workload) {
    Optional<Duration> declared =
        RunTimeAnnotations.expected(workload.annotations())
            .or(() -> defaults.apply(workload).map(QueueRunTime::runTime));
    return Stream.concat(declared.stream(), limit(workload).stream())
        .min(Comparator.naturalOrder());
  }

  /** What is left of the limit of all runs together, or the deadline of each if that is less. */
  private static Optional<Duration> limit(CachedWorkload workload) {
    return Stream.concat(
            enforced(workload).stream(),
            RunTimeAnnotations.deadline(workload.annotations()).stream())
        .min(Comparator.naturalOrder());
  }

  /**
   * What is left of {@code maximumExecutionTimeSeconds}, after which the operator ends the run;
   * empty without such a limit. The deadline of the job is none: the job's owner may change it
   * while the job runs.
   */
  static Optional<Duration> enforced(CachedWorkload workload) {
    long seconds = workload.spec().maximumExecutionTimeSeconds();
    long passed = workload.status().history().executionSeconds();
    return seconds > 0
        ? Optional.of(Duration.ofSeconds(Math.max(0, seconds - passed)))
        : Optional.empty();
  }

  /**
   * How long a Workload is expected to run, as it is shown to people.
   *
   * @param estimate of the whole run
   * @param queueWithDefault the queue whose default run time the estimate is, such as {@code
   *     LocalQueue team/gpu}; empty if it isn't such a default
   * @param age how long the Workload has run; empty if it doesn't run
   */
  public record WorkloadRunTime(
      RunTimeEstimate estimate, Optional<String> queueWithDefault, Optional<Duration> age) {}
}
