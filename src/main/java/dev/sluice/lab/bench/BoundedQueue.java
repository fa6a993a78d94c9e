package dev.sluice.lab.bench;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Requests in their order, so many at a time. Confined to the thread of its executor. */
final class BoundedQueue {

  private final int most;
  private final Executor executor;
  private final Deque<Supplier<CompletableFuture<?>>> waiting = new ArrayDeque<>();
  private int inFlight;

  /** At most {@code most} at a time; all else happens on {@code executor}. */
  BoundedQueue(int most, Executor executor) {
    this.most = most;
    this.executor = executor;
  }

  /** Sends it when it is its turn. */
  void add(Supplier<CompletableFuture<?>> request) {
    waiting.add(request);
    sendWhatMay();
  }

  private void sendWhatMay() {
    while (inFlight < most && !waiting.isEmpty()) {
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
