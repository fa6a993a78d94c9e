package dev.sluice.kube.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for the API server, on threads that are cheap to let wait. */
public final class Futures {

  private static final long SECONDS = 60;

  private Futures() {}

  /**
   * The result of a request.
   *
   * @throws IllegalStateException if it failed or took longer than a minute; a retry may succeed
   */
  public static <T> T forResult(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get(SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("request failed", e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("no answer within " + SECONDS + "s", e);
    }
  }
}
