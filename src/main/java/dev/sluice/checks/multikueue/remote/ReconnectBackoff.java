package dev.sluice.checks.multikueue.remote;

import java.time.Duration;

/**
 * How long to wait for a worker cluster, and between two tries.
 *
 * @param failures tries in a row that failed
 * @param timeouts tries in a row that ended because no answer came in time
 */
record ReconnectBackoff(int failures, int timeouts) {

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final int LONGEST_AFTER = 7;
  private static final Duration FIRST_PATIENCE = Duration.ofMinutes(1);
  private static final Duration LONGEST_PATIENCE = Duration.ofMinutes(10);

  /** Nothing failed. */
  static ReconnectBackoff none() {
    return new ReconnectBackoff(0, 0);
  }

  /** One more try failed. */
  ReconnectBackoff failed(boolean timedOut) {
    return new ReconnectBackoff(failures + 1, timedOut ? timeouts + 1 : 0);
  }

  /** The pause before the next try: 5 s after the first failure, doubling up to 320 s. */
  Duration pause() {
    int exponent = Math.clamp(failures, 1, LONGEST_AFTER) - 1;
    return FIRST_PAUSE.multipliedBy(1L << exponent);
  }

  /** How long the watch may take to be there: a minute, twice as long after each time-out. */
  Duration timeout() {
    Duration grown = FIRST_PATIENCE.multipliedBy(1L << Math.min(timeouts, 4));
    return grown.compareTo(LONGEST_PATIENCE) < 0 ? grown : LONGEST_PATIENCE;
  }
}
