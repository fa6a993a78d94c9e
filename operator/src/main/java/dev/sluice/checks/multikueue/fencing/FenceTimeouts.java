package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;

/**
 * Timeouts of fencing on the manager's side, all derived from the worker-lost timeout.
 *
 * @param lostTimeout how long after the loss of a worker its Workloads are started elsewhere
 */
public record FenceTimeouts(Duration lostTimeout) {

  private static final Duration MAX_RESERVE = Duration.ofSeconds(20);
  private static final Duration MIN_RENEW_INTERVAL = Duration.ofMillis(500);
  private static final Duration MAX_RENEW_INTERVAL = Duration.ofSeconds(20);
  private static final Duration MIN_LOST_TIMEOUT = Duration.ofSeconds(3);

  /** Whether the timeout is long enough for fencing. */
  public boolean fences() {
    return lostTimeout.compareTo(MIN_LOST_TIMEOUT) >= 0;
  }

  /**
   * The time that a worker has to notice the loss and to stop a job, in addition to the grace
   * period of the pods.
   */
  Duration reserve() {
    return min(lostTimeout.dividedBy(5), MAX_RESERVE);
  }

  /**
   * How long after the last renewal a worker stops a job, so that the job's pods are gone when the
   * manager starts the job elsewhere. At least half of the timeout; longer grace periods are not
   * waited for.
   *
   * @param grace the longest termination grace period of the job's pods
   */
  public Duration stopAfter(Duration grace) {
    Duration wished = lostTimeout.minus(reserve()).minus(grace);
    Duration half = lostTimeout.dividedBy(2);
    return wished.compareTo(half) < 0 ? half : wished;
  }

  /** The interval between two renewals. */
  public Duration renewEvery() {
    Duration tenth = min(lostTimeout.dividedBy(10), MAX_RENEW_INTERVAL);
    return tenth.compareTo(MIN_RENEW_INTERVAL) < 0 ? MIN_RENEW_INTERVAL : tenth;
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
