package dev.sluice.app.module;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** Waits for first listings, each for as long as {@code patience}. */
public record CacheSyncWaiter(Duration patience) {

  private static final Duration PAUSE = Duration.ofMillis(20);

  /**
   * Returns when it is complete.
   *
   * @param what for the message
   * @throws IOException when it isn't in time, or failed
   */
  void await(String what, CompletableFuture<Void> listed) throws IOException {
    try {
      listed.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      throw new IOException(what + " could not be listed within " + patience, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while listing " + what);
    }
  }

  /**
   * Returns when the condition holds. The framework tells nobody when an informer has recovered, so
   * the condition is asked for again and again.
   *
   * @param what for the message
   * @throws IOException when the condition doesn't hold in time
   */
  void await(String what, BooleanSupplier listed) throws IOException {
    long begin = System.nanoTime();
    while (!listed.getAsBoolean()) {
      if (System.nanoTime() - begin > patience.toNanos()) {
        throw new IOException(what + " could not be listed within " + patience);
      }
      try {
        Thread.sleep(PAUSE);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while listing " + what);
      }
    }
  }
}
