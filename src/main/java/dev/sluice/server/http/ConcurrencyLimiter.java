package dev.sluice.server.http;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Limits the number and the total memory of concurrent requests; further requests wait in the order
 * of arrival.
 */
final class ConcurrencyLimiter {

  /** Memory is counted in units of this many bytes. */
  private static final int BYTES_PER_UNIT = 1024;

  private final Semaphore places;
  private final Semaphore memory;
  private final int units;
  private final Duration timeout;

  ConcurrencyLimiter(int places, long bytes, Duration timeout) {
    this.places = new Semaphore(places, true);
    this.units = (int) Math.min(Integer.MAX_VALUE, Math.max(1, bytes / BYTES_PER_UNIT));
    this.memory = new Semaphore(units, true);
    this.timeout = timeout;
  }

  /** Permission of one request; closing it admits waiting requests. */
  interface Pass extends AutoCloseable {
    @Override
    void close();
  }

  /** Whether a request of this size can be admitted at all. */
  boolean fits(long bytes) {
    return bytes / BYTES_PER_UNIT <= units;
  }

  /**
   * Waits for a place and for memory.
   *
   * @param bytes a size that {@link #fits fits}
   * @throws OverloadException when the wait times out
   */
  Pass enter(long bytes) throws OverloadException, InterruptedException {
    int needed = (int) (bytes / BYTES_PER_UNIT);
    if (!places.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new OverloadException("too many requests at a time");
    }
    boolean entered = false;
    try {
      entered = memory.tryAcquire(needed, timeout.toNanos(), TimeUnit.NANOSECONDS);
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
