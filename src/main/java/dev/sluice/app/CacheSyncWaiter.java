package dev.sluice.app;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for first listings, each for as long as {@code patience}. */
record CacheSyncWaiter(Duration patience) {

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
}
