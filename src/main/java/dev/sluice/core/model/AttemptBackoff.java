package dev.sluice.core.model;

import java.time.Duration;

/**
 * How long a Workload stays out of its queue after an attempt in vain: the base after the first
 * one, twice as long after each further one, up to the maximum.
 *
 * @param base the pause after the first attempt
 * @param max the longest pause; at least the base
 */
public record AttemptBackoff(Duration base, Duration max) {

  /** One second, doubling up to twenty. */
  public static final AttemptBackoff DEFAULT =
      new AttemptBackoff(Duration.ofSeconds(1), Duration.ofSeconds(20));

  /** The pause after so many attempts in vain; at least one. */
  public Duration after(int attempts) {
    Duration pause = base;
    for (int i = 1; i < attempts && pause.compareTo(max) < 0; i++) {
      pause = pause.plus(pause);
    }
    return pause.compareTo(max) < 0 ? pause : max;
  }
}
