package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** When a fenced Workload is switched off. */
final class FencePolicy {

  private FencePolicy() {}

  /**
   * The time from which on it has to be off.
   *
   * @param lease of its manager; empty if none was ever seen by this process
   * @param made when the Workload was made here, which was after a renewal
   * @param after how long after the last renewal
   */
  static Instant deadline(Optional<LeaseClock> lease, Instant made, Duration after) {
    return lease.map(LeaseClock::lastRenewal).orElse(made).plus(after);
  }
}
