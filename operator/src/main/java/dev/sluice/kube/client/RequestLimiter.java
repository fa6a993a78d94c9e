package dev.sluice.kube.client;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A token bucket over the requests of a client: so many per second on average, so many at once
 * after a quiet time. Requests leave in the order in which they reserve. From any thread.
 */
public final class RequestLimiter {

  private static final double NANOS = 1e9;

  private final double perSecond;
  private final int burst;
  private final LongSupplier nanoTime;
  private double tokens;
  private long countedAt;

  /**
   * A full bucket.
   *
   * @param perSecond requests per second; no limit if it is not positive
   * @param burst requests at once, at least 1
   * @param nanoTime a clock that never goes back, in nanoseconds
   */
  public RequestLimiter(double perSecond, int burst, LongSupplier nanoTime) {
    this.perSecond = perSecond;
    this.burst = Math.max(1, burst);
    this.nanoTime = nanoTime;
    this.tokens = this.burst;
    this.countedAt = nanoTime.getAsLong();
  }

  /** Never makes a request wait. */
  public static RequestLimiter unlimited() {
    return new RequestLimiter(0, 1, () -> 0);
  }

  /** Takes a token, of the future if need be, and returns how long the request has to wait. */
  public Duration reserve() {
    return reserve(1);
  }

  /**
   * Takes a token if there is one.
   *
   * @return zero if it was taken; otherwise how long it takes until there is one
   */
  public synchronized Duration tryTake() {
    Duration wait = reserve(1);
    if (!wait.isZero()) {
      tokens++;
    }
    return wait;
  }

  /** The same with so many tokens at once. */
  public synchronized Duration reserve(long count) {
    if (perSecond <= 0) {
      return Duration.ZERO;
    }
    long now = nanoTime.getAsLong();
    double gained = Math.max(0, now - countedAt) * perSecond / NANOS;
    tokens = Math.min(burst, tokens + gained) - count;
    countedAt = now;
    return tokens >= 0
        ? Duration.ZERO
        : Duration.ofNanos((long) Math.ceil(-tokens * NANOS / perSecond));
  }
}
