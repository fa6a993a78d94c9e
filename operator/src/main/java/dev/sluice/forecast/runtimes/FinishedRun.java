package dev.sluice.forecast.runtimes;

import java.time.Duration;
import java.time.Instant;

/**
 * A run that is over (docs/run-times.md).
 *
 * @param endedAt the time of its end
 * @param lasted from ready pods, or from the admission, to the end; not negative
 * @param end how it ended
 */
public record FinishedRun(Instant endedAt, Duration lasted, End end) {

  /** How a run ends. */
  public enum End {
    /** The job succeeded. */
    SUCCEEDED,
    /** The job failed. */
    FAILED,
    /** The Workload was evicted: the job would have run for longer. */
    EVICTED
  }

  /** A run that lasted less than nothing, by two clocks, counts as one of no duration. */
  public FinishedRun {
    if (lasted.isNegative()) {
      lasted = Duration.ZERO;
    }
  }
}
