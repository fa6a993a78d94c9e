package dev.sluice.checks.multikueue.fencing;

import java.time.Instant;
import java.time.InstantSource;

/** Begins with the time of another clock and goes on by itself: nobody sets it. */
public final class MonotonicClock implements InstantSource {

  private final Instant base;
  private final long begin = System.nanoTime();

  /** Begins now. */
  public MonotonicClock(InstantSource other) {
    this.base = other.instant();
  }

  @Override
  public Instant instant() {
    return base.plusNanos(System.nanoTime() - begin);
  }
}
