package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Computes when a fenced Workload is deactivated. */
final class FencePolicy {

  private FencePolicy() {}

  /**
   * The time at which the Workload must be deactivated.
   *
   * @param lease the Lease of its manager; empty if this process never saw one
   * @param made when the Workload was created here, which was after a renewal
   * @param after the time allowed after the last renewal
   */
  static Instant deadline(Optional<LeaseClock> lease, Instant made, Duration after) {
    return lease.map(LeaseClock::lastRenewal).orElse(made).plus(after);
  }
}
