package dev.sluice.kube.client;

import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock that starts at the time of another clock and is never adjusted afterwards: for intervals,
 * which a wall clock that is set back would make longer.
 */
public final class MonotonicClock implements InstantSource {

  private final Instant base;
  private final long begin = System.nanoTime();

  /** Starts at the present time of the other clock. */
  public MonotonicClock(InstantSource other) {
    this.base = other.instant();
  }

  @Override
  public Instant instant() {
    return base.plusNanos(System.nanoTime() - begin);
  }
}
