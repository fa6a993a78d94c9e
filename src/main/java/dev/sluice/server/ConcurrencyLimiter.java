package dev.sluice.server;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Lets so many requests through at a time as there are places and memory for; the others wait in
 * the order in which they came.
 */
final class ConcurrencyLimiter {

  /** Memory is counted in units of this many bytes. */
  private static final int UNIT = 1024;

  private final Semaphore places;
  private final Semaphore memory;
  private final int units;
  private final Duration patience;

  ConcurrencyLimiter(int places, long bytes, Duration patience) {
    this.places = new Semaphore(places, true);
    this.units = (int) Math.min(Integer.MAX_VALUE, Math.max(1, bytes / UNIT));
    this.memory = new Semaphore(units, true);
    this.patience = patience;
  }

  /** One that was let through; closing it lets others through. */
  interface Pass extends AutoCloseable {
    @Override
    void close();
  }

  /** Whether work of this size is let through at all. */
  boolean fits(long bytes) {
    return bytes / UNIT <= units;
  }

  /**
   * Waits for a place and for memory.
   *
   * @param bytes that {@link #fits fit}
   * @throws OverloadException when others are in the way for too long
   */
  Pass enter(long bytes) throws OverloadException, InterruptedException {
    int needed = (int) (bytes / UNIT);
    if (!places.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new OverloadException("too many requests at a time");
    }
    boolean entered = false;
    try {
      entered = memory.tryAcquire(needed, patience.toNanos(), TimeUnit.NANOSECONDS);
    } finally {
      if (!entered) {
        places.release();
      }
    }
    if (!entered) {
      throw new OverloadException("too many large requests at a time");
    }
    return () -> {
      memory.release(needed);
      places.release();
    };
  }
}
