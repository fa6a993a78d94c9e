package dev.sluice.kube.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
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

  /**
   * How many objects of a kind each controller of the kind reconciles at a time, as the
   * configuration sets it. A kind that isn't named has the limit of its controller.
   *
   * @param limits at least 1 each, by {@code Kind.group}; by the kind alone in the core group
   */
  public record GroupKindConcurrency(Map<String, Integer> limits) {

    /** No kind is named. */
    public static final GroupKindConcurrency NONE = new GroupKindConcurrency(Map.of());

    /** Keeps a copy of the map. */
    public GroupKindConcurrency {
      limits = Map.copyOf(limits);
    }

    /** The name of a kind in the configuration, such as {@code Job.batch} or {@code Pod}. */
    public static String name(String group, String kind) {
      return group.isEmpty() ? kind : kind + "." + group;
    }

    /** The limit of a kind; empty if the configuration doesn't name it. */
    public OptionalInt limit(String group, String kind) {
      Integer limit = limits.get(name(group, kind));
      return limit == null ? OptionalInt.empty() : OptionalInt.of(limit);
    }

    /** The same for the kind of a class. */
    public OptionalInt limit(Class<? extends HasMetadata> kind) {
      return limit(HasMetadata.getGroup(kind), HasMetadata.getKind(kind));
    }
  }
}
