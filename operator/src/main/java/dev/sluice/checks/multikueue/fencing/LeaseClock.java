package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;
import java.time.Instant;

/**
 * Computes when a manager last renewed its Lease, in time of this cluster's clock. A renewal
 * carries the time of sending by the manager's clock. The two clocks may differ by any amount as
 * long as both run at the same rate: the smallest difference between sending and arrival seen so
 * far is taken as the offset of the clocks, and any excess over it as delay in transit. So a
 * delayed renewal counts from the time it was sent, not from the time it arrived. The arrival of a
 * renewal that existed before this process started is known only between two bounds; it counts from
 * the earlier bound, and a later renewal replaces it only if its delay is not larger than the delay
 * that the first one may have had.
 *
 * @param holder the manager's process; another process has another clock
 * @param sent when the last renewal was sent, by the manager's clock
 * @param lag the smallest difference between arrival and sending seen so far
 * @param slack upper bound of the error of {@code lag}; zero once an arrival was observed
 */
public record LeaseClock(String holder, Instant sent, Duration lag, Duration slack) {

  /**
   * Creates a clock from a renewal that existed before this process started.
   *
   * @param earliest the earliest possible time of arrival, by the clock here
   * @param latest the latest possible time of arrival, by the clock here
   */
  static LeaseClock listed(String holder, Instant sent, Instant earliest, Instant latest) {
    return new LeaseClock(
        holder, sent, Duration.between(sent, earliest), Duration.between(earliest, latest));
  }

  /** Applies a renewal that arrived now; returns the same clock if the renewal is already known. */
  LeaseClock renewed(String otherHolder, Instant otherSent, Instant now) {
    Duration sample = Duration.between(otherSent, now);
    if (!otherHolder.equals(holder)) {
      return new LeaseClock(otherHolder, otherSent, sample, Duration.ZERO);
    }
    if (!otherSent.isAfter(sent)) {
      return this;
    }
    return sample.compareTo(lag.plus(slack)) <= 0
        ? new LeaseClock(holder, otherSent, sample, Duration.ZERO)
        : new LeaseClock(holder, otherSent, lag, slack);
  }

  /** Time of the last renewal, by the clock here. */
  Instant lastRenewal() {
    return sent.plus(lag);
  }
}
