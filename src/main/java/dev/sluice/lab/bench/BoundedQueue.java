package dev.sluice.lab.bench;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Sends requests in order, with limited concurrency. Confined to the thread of its executor. */
final class BoundedQueue {

  private final int maxConcurrent;
  private final Executor executor;
  private final Deque<Supplier<CompletableFuture<?>>> waiting = new ArrayDeque<>();
  private int inFlight;

  /**
   * Creates a queue.
   *
   * @param maxConcurrent maximum number of concurrent requests
   * @param executor runs everything else
   */
  BoundedQueue(int maxConcurrent, Executor executor) {
    this.maxConcurrent = maxConcurrent;
    this.executor = executor;
  }

  /** Sends the request as soon as the limit permits. */
  void add(Supplier<CompletableFuture<?>> request) {
    waiting.add(request);
    sendWhatMay();
  }

  private void sendWhatMay() {
    while (inFlight < maxConcurrent && !waiting.isEmpty()) {
      inFlight++;
      var unused =
          waiting
              .remove()
              .get()
              .whenCompleteAsync(
                  (answer, failure) -> {
                    inFlight--;
                    sendWhatMay();
                  },
                  executor);
    }
  }
}
