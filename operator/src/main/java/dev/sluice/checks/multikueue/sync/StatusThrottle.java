package dev.sluice.checks.multikueue.sync;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Limits how often the status of a job that runs in a worker is copied: the changes of a few
 * seconds go in one write. Most jobs that run so shortly have ended by then, and the end is copied
 * at once. Not thread-safe.
 */
final class StatusThrottle {

  /** How long a status may differ from the one in the worker. */
  static final Duration MERGED_FOR = Duration.ofSeconds(5);

  private Optional<Instant> differsSince = Optional.empty();

  /** How long a change of the status that was seen now must wait; empty if it is to be written. */
  Optional<Duration> hold(Instant now) {
    Instant since = differsSince.orElse(now);
    differsSince = Optional.of(since);
    Duration left = Duration.between(now, since.plus(MERGED_FOR));
    return left.isPositive() ? Optional.of(left) : Optional.empty();
  }

  /** Records that the status is as it is in the worker. */
  void equal() {
    differsSince = Optional.empty();
  }
}
