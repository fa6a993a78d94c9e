package dev.sluice.app.module;

import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * Tells whether the engine's thread still takes messages. Each check asks the engine a question,
 * unless an earlier one is still without an answer: one that waits for a minute means that the
 * thread is busy or blocked in one step. Thread-safe.
 */
final class EngineWatchdog {

  static final Duration LIMIT = Duration.ofMinutes(1);

  private static final WorkloadId NOBODY = new WorkloadId("", "", "");

  private final SchedulerQueries queries;
  private final LongSupplier nanoTime;
  private CompletableFuture<?> question = CompletableFuture.completedFuture(null);
  private long askedAt;

  /** Over an engine that has started; {@code nanoTime} is monotonic. */
  EngineWatchdog(SchedulerQueries queries, LongSupplier nanoTime) {
    this.queries = queries;
    this.nanoTime = nanoTime;
  }

  /** Whether no question has waited for longer than {@link #LIMIT}; to be called regularly. */
  synchronized boolean alive() {
    long now = nanoTime.getAsLong();
    if (question.isDone()) {
      question = queries.pendingReason(NOBODY);
      askedAt = now;
    }
    return now - askedAt < LIMIT.toNanos();
  }
}
