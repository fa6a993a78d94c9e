package dev.sluice.kube.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * How long writes take at present, and so how much the API server has to do. Writes that only
 * inform people adapt to it: the longer decisions take to be written, the fewer of the others are
 * sent. From any thread.
 */
public final class WriteLatency {

  /** Up to here the server has time for everything; an idle one takes a fifth of it. */
  private static final double USUAL_NANOS = Duration.ofMillis(50).toNanos();

  private static final double WEIGHT = 0.1;
  private static final double LEAST_SHARE = 0.1;
  private static final long MEMORY_NANOS = Duration.ofSeconds(5).toNanos();

  private final LongSupplier nanoTime;
  private final AtomicInteger underWay = new AtomicInteger();
  private double nanos;
  private long last;

  /** Nothing is known yet; {@code nanoTime} is a clock such as {@link System#nanoTime}. */
  public WriteLatency(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.last = nanoTime.getAsLong();
  }

  /** A write is sent: the time of it, for {@link #ended}, which must follow. */
  public long began() {
    underWay.incrementAndGet();
    return nanoTime.getAsLong();
  }

  /** Whether a write is under way. */
  public boolean isWriting() {
    return underWay.get() > 0;
  }

  /**
   * A write that was sent at {@code start} has been answered, or it is certain that it won't be.
   */
  public synchronized void ended(long start) {
    underWay.decrementAndGet();
    last = nanoTime.getAsLong();
    nanos += (last - start - nanos) * WEIGHT;
  }

  /**
   * The part of their budget that writes without hurry may use: 1 while the server answers as
   * usual, less the longer it takes, and never less than a tenth. When nothing was written for five
   * seconds, it is 1 again.
   */
  public synchronized double share() {
    if (nanoTime.getAsLong() - last > MEMORY_NANOS) {
      nanos = 0;
    }
    double ratio = nanos <= USUAL_NANOS ? 1 : USUAL_NANOS / nanos;
    return Math.max(LEAST_SHARE, ratio * ratio);
  }
}
