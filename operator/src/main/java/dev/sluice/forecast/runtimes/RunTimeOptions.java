package dev.sluice.forecast.runtimes;

import java.time.Duration;

/**
 * What is learned from runs (docs/run-times.md#groups).
 *
 * @param minSamples the least number of ended runs that a group's estimate is made of; at least 2
 * @param window the age at which runs are forgotten; positive
 * @param maxGroups the largest number of groups that are remembered; at least 1
 */
public record RunTimeOptions(int minSamples, Duration window, int maxGroups) {

  /** The defaults of the configuration. */
  public static final RunTimeOptions DEFAULT = new RunTimeOptions(5, Duration.ofDays(30), 5_000);

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public RunTimeOptions {
    if (minSamples < 2 || window.isNegative() || window.isZero() || maxGroups < 1) {
      throw new IllegalArgumentException(
          "minSamples=%s window=%s maxGroups=%s".formatted(minSamples, window, maxGroups));
    }
  }
}
