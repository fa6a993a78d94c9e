package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;
import java.time.Instant;

/**
 * When a manager was last heard of, told by the clock of this cluster alone. A renewal says when it
 * was sent by the manager's clock. The two clocks may differ by anything, as long as both go at the
 * same rate: the smallest difference between sending and arrival that was ever seen is what lies
 * between the clocks, and what is more was spent on the way. So a renewal that was held up counts
 * from when it was sent, not from when it came.
 *
 * @param holder the manager's process; another one has another clock
 * @param sent when the last renewal was sent, by the manager's clock
 * @param lag the smallest difference seen so far
 * @param witnessed whether that was seen at an arrival, rather than told by the API server
 */
public record LeaseClock(String holder, Instant sent, Duration lag, boolean witnessed) {

  /**
   * Of a renewal that was there already when this process began to look.
   *
   * @param written when the API server wrote it, by its clock
   * @param now the time here
   */
  static LeaseClock listed(String holder, Instant sent, Instant written, Instant now) {
    Instant arrival = written.isBefore(now) ? written : now;
    return new LeaseClock(holder, sent, Duration.between(sent, arrival), false);
  }

  /** With a renewal that came now; the same if it is none that wasn't known. */
  LeaseClock heard(String otherHolder, Instant otherSent, Instant now) {
    Duration sample = Duration.between(otherSent, now);
    if (!otherHolder.equals(holder)) {
      return new LeaseClock(otherHolder, otherSent, sample, true);
    }
    if (!otherSent.isAfter(sent)) {
      return this;
    }
    boolean keeps = witnessed && lag.compareTo(sample) < 0;
    return new LeaseClock(holder, otherSent, keeps ? lag : sample, true);
  }

  /** When the manager was last heard of, by the clock here. */
  Instant lastHeard() {
    return sent.plus(lag);
  }
}
