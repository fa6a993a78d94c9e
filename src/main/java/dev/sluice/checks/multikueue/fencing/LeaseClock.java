package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;
import java.time.Instant;

/**
 * When a manager was last heard of, told by the clock of this cluster alone. A renewal says when it
 * was sent by the manager's clock. The two clocks may differ by anything, as long as both go at the
 * same rate: the smallest difference between sending and arrival that was ever seen is what lies
 * between the clocks, and what is more was spent on the way. So a renewal that was held up counts
 * from when it was sent, not from when it came. Of a renewal that came before this process looked
 * the arrival is known between two bounds only; it counts from the earlier one, and a later renewal
 * is believed only if it was as quick as that one may have been.
 *
 * @param holder the manager's process; another one has another clock
 * @param sent when the last renewal was sent, by the manager's clock
 * @param lag the smallest difference seen so far
 * @param slack how much larger it may have been; zero once an arrival was seen
 */
public record LeaseClock(String holder, Instant sent, Duration lag, Duration slack) {

  /**
   * Of a renewal that was there already when this process began to look.
   *
   * @param earliest when it arrived at the earliest, by the clock here
   * @param latest when it arrived at the latest
   */
  static LeaseClock listed(String holder, Instant sent, Instant earliest, Instant latest) {
    return new LeaseClock(
        holder, sent, Duration.between(sent, earliest), Duration.between(earliest, latest));
  }

  /** With a renewal that came now; the same if it is none that wasn't known. */
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

  /** When the manager was last heard of, by the clock here. */
  Instant lastRenewal() {
    return sent.plus(lag);
  }
}
