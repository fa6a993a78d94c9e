package dev.sluice.checks.multikueue.fencing;

import java.time.Duration;

/**
 * How long is how long, as the manager sees it: everything follows from how long it waits for a
 * lost worker.
 *
 * @param lostTimeout after which it starts elsewhere what ran in a lost worker
 */
public record FenceTimeouts(Duration lostTimeout) {

  private static final Duration LONGEST_RESERVE = Duration.ofSeconds(20);
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(20);
  private static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(3);

  /** Whether there is time enough for a fence at all. */
  public boolean fences() {
    return lostTimeout.compareTo(SHORTEST_TIMEOUT) >= 0;
  }

  /** What a worker has for noticing and stopping, besides the grace of pods. */
  Duration reserve() {
    return least(lostTimeout.dividedBy(5), LONGEST_RESERVE);
  }

  /**
   * How long after the last renewal a worker stops a job, so that its pods are gone when the
   * manager starts it elsewhere. Never less than half the time-out: a longer grace isn't waited
   * for.
   *
   * @param grace the longest that one of its pods may take to end
   */
  public Duration stopAfter(Duration grace) {
    Duration wished = lostTimeout.minus(reserve()).minus(grace);
    Duration half = lostTimeout.dividedBy(2);
    return wished.compareTo(half) < 0 ? half : wished;
  }

  /** The pause between two renewals. */
  public Duration renewEvery() {
    Duration tenth = least(lostTimeout.dividedBy(10), LONGEST_PAUSE);
    return tenth.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : tenth;
  }

  private static Duration least(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
