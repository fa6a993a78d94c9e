package dev.sluice.kube.client;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for the API server, on threads that are cheap to let wait. */
public final class Futures {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private Futures() {}

  /**
   * The result of a request. One that waits for its turn until then isn't sent any more: whoever
   * asked decides anew.
   *
   * @throws IllegalStateException if it failed or took longer than a minute; a retry may succeed
   */
  public static <T> T forResult(CompletableFuture<T> future) throws InterruptedException {
    return forResult(future, PATIENCE);
  }

  /** The same with another patience. */
  static <T> T forResult(CompletableFuture<T> future, Duration patience)
      throws InterruptedException {
    try {
      return future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("request failed", e.getCause());
    } catch (TimeoutException e) {
      future.cancel(false);
      throw new IllegalStateException("no answer within " + patience.toSeconds() + "s", e);
    }
  }
}
