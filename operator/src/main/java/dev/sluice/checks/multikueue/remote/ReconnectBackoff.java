package dev.sluice.checks.multikueue.remote;

import java.time.Duration;

/**
 * Backoff between attempts to connect to a worker cluster, and the timeout of each attempt.
 *
 * @param failures number of failed attempts in a row
 * @param timeouts number of attempts in a row that ended by a timeout
 */
record ReconnectBackoff(int failures, int timeouts) {

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final int LONGEST_PAUSE_AFTER = 7;
  private static final Duration FIRST_TIMEOUT = Duration.ofMinutes(1);
  private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

  /** No failed attempts. */
  static ReconnectBackoff none() {
    return new ReconnectBackoff(0, 0);
  }

  /** The backoff after one more failed attempt. */
  ReconnectBackoff failed(boolean timedOut) {
    return new ReconnectBackoff(failures + 1, timedOut ? timeouts + 1 : 0);
  }

  /** The backoff after the worker was cut off: the longest pause at once. */
  ReconnectBackoff cutOff() {
    return new ReconnectBackoff(Math.max(failures + 1, LONGEST_PAUSE_AFTER), 0);
  }

  /** The pause before the next attempt: 5 s after the first failure, doubling up to 320 s. */
  Duration pause() {
    int exponent = Math.clamp(failures, 1, LONGEST_PAUSE_AFTER) - 1;
    return FIRST_PAUSE.multipliedBy(1L << exponent);
  }

  /** The timeout for establishing the watch: a minute, doubled after each timeout. */
  Duration timeout() {
    Duration grown = FIRST_TIMEOUT.multipliedBy(1L << Math.min(timeouts, 4));
    return grown.compareTo(LONGEST_TIMEOUT) < 0 ? grown : LONGEST_TIMEOUT;
  }
}
