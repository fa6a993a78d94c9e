package dev.sluice.kube.controller;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * How a {@link WorkQueue} runs.
 *
 * @param executor runs the workers
 * @param timer runs a task after a delay, on any thread
 * @param nanoTime a monotonic clock in nanoseconds
 * @param workers the largest number of keys handled at the same time
 * @param firstRetry the delay before the first retry of a key that failed
 * @param longestRetry the limit up to which that delay doubles from failure to failure
 * @param concurrency the number of workers of queues whose keys are objects of a kind
 */
public record WorkQueueSettings(
    Executor executor,
    BiConsumer<Duration, Runnable> timer,
    LongSupplier nanoTime,
    int workers,
    Duration firstRetry,
    Duration longestRetry,
    GroupKindConcurrency concurrency) {

  private static final int WORKERS = 64;
  private static final Duration FIRST_RETRY = Duration.ofMillis(500);
  private static final Duration LONGEST_RETRY = Duration.ofMinutes(1);

  /** The settings of controllers: 64 workers, retries after 500 ms up to one minute. */
  public static WorkQueueSettings of(Executor executor, BiConsumer<Duration, Runnable> timer) {
    return new WorkQueueSettings(
        executor,
        timer,
        System::nanoTime,
        WORKERS,
        FIRST_RETRY,
        LONGEST_RETRY,
        GroupKindConcurrency.NONE);
  }

  /** The same with another number of workers for some kinds. */
  public WorkQueueSettings with(GroupKindConcurrency newConcurrency) {
    return new WorkQueueSettings(
        executor, timer, nanoTime, workers, firstRetry, longestRetry, newConcurrency);
  }

  /**
   * The settings of a queue whose keys are objects of a kind: the same, with as many workers as the
   * configuration allows the kind.
   *
   * @param group empty for the core group
   */
  public WorkQueueSettings ofKind(String group, String kind) {
    return new WorkQueueSettings(
        executor,
        timer,
        nanoTime,
        concurrency.limit(group, kind).orElse(workers),
        firstRetry,
        longestRetry,
        concurrency);
  }
}
