package dev.sluice.kube.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Runs requests that don't depend on each other at the same time, each on a virtual thread of its
 * own.
 */
public final class ConcurrentRequests {

  private ConcurrentRequests() {}

  /**
   * Begins a request.
   *
   * @return waits for the result, and throws the exception of the request if it failed
   */
  public static <T> Supplier<T> begin(Supplier<T> request) {
    CompletableFuture<T> future =
        CompletableFuture.supplyAsync(
            request, task -> Thread.ofVirtual().name("request").start(task));
    return () -> result(future);
  }

  private static <T> T result(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw e;
    }
  }

  /**
   * Runs all requests, and returns when each has ended.
   *
   * @throws RuntimeException the failure of the first one in the list that failed; further failures
   *     are suppressed exceptions of it
   */
  public static void run(List<Runnable> requests) {
    List<Supplier<Boolean>> begun =
        requests.stream()
            .map(
                request ->
                    begin(
                        () -> {
                          request.run();
                          return true;
                        }))
            .toList();
    RuntimeException failure = null;
    for (Supplier<Boolean> each : begun) {
      try {
        var unused = each.get();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else if (failure != e) {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
