package dev.sluice.forecast.feed;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.EngineState.ClusterQueueExport;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.waiting.WaitingExport.TreeRoot;
import dev.sluice.forecast.starts.StartEstimate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says when all pending Workloads of a queue start, to those who show lists
 * (docs/expected-starts.md#lists). One forecast of a cohort tree serves all of its queues for five
 * seconds. Forecasts take five percent of a core at most, in the long run; whoever asks while the
 * share is used up gets no estimates. Thread-safe.
 */
public final class QueueStartEstimates {

  private static final Logger LOG = LoggerFactory.getLogger(QueueStartEstimates.class);

  /** After a forecast no other begins for so many times as long as it took. */
  static final int PAUSE_PER_FORECAST = 19;

  /** So many forecasts may be under way or wait. */
  private static final int MOST_WAITING = 4;

  /** Estimates of so many Workloads are computed in one forecast. */
  static final int MOST_WORKLOADS = 10_000;

  private static final int MOST_FORECASTS = 64;

  /** Estimates of so many Workloads are kept. */
  private static final int MOST_KEPT = 2 * MOST_WORKLOADS;

  private final StartEstimator estimator;
  private final InstantSource clock;
  private final Executor oneByOne;
  private final LongSupplier cpuNanos;

  /** The latest forecasts, the newest first; guarded by this object. */
  private final Deque<Forecast> forecasts = new ArrayDeque<>();

  /** By the ClusterQueue that was asked for; guarded by this object. */
  private final Map<String, CompletableFuture<Map<WorkloadId, StartEstimate>>> underWay =
      new HashMap<>();

  /** From when on the next forecast may begin; guarded by this object. */
  private Instant notBefore = Instant.EPOCH;

  /** When that was computed; guarded by this object. */
  private Instant charged = Instant.EPOCH;

  /**
   * The estimates of one tree.
   *
   * @param queues its ClusterQueues
   * @param computedAt when its state was exported
   */
  private record Forecast(
      Set<String> queues, Instant computedAt, Map<WorkloadId, StartEstimate> estimates) {}

  /**
   * Estimates of lists.
   *
   * @param oneByOne runs the forecasts, one at a time; the thread of the estimator's
   * @param cpuNanos the time of the processor that the thread that asks has used
   */
  public QueueStartEstimates(
      StartEstimator estimator, InstantSource clock, Executor oneByOne, LongSupplier cpuNanos) {
    this.estimator = estimator;
    this.clock = clock;
    this.oneByOne = oneByOne;
    this.cpuNanos = cpuNanos;
  }

  /** The estimates of at most five seconds ago; computes nothing. */
  public Map<WorkloadId, StartEstimate> known(String clusterQueue) {
    return fresh(clusterQueue, clock.instant()).orElse(Map.of());
  }

  private synchronized Optional<Map<WorkloadId, StartEstimate>> fresh(
      String clusterQueue, Instant now) {
    return forecasts.stream()
        .filter(each -> isFresh(each, now) && each.queues().contains(clusterQueue))
        .findFirst()
        .map(Forecast::estimates);
  }

  private static boolean isFresh(Forecast forecast, Instant now) {
    return StartEstimator.isFresh(forecast.computedAt(), now);
  }

  /**
   * The estimates of at most five seconds ago, or new ones, of Workloads of the ClusterQueue's
   * tree. Empty if they aren't there in time; then they are there for whoever asks next.
   *
   * @param patience how long to wait for them
   */
  public Map<WorkloadId, StartEstimate> of(String clusterQueue, Duration patience) {
    CompletableFuture<Map<WorkloadId, StartEstimate>> answer = ask(clusterQueue);
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Map.of();
    } catch (TimeoutException e) {
      return Map.of();
    } catch (ExecutionException e) {
      LOG.warn("clusterQueue={} expectedStarts=unknown", clusterQueue, e.getCause());
      return Map.of();
    }
  }

  private CompletableFuture<Map<WorkloadId, StartEstimate>> ask(String clusterQueue) {
    CompletableFuture<Map<WorkloadId, StartEstimate>> answer;
    Instant now = clock.instant();
    synchronized (this) {
      Optional<Map<WorkloadId, StartEstimate>> known = fresh(clusterQueue, now);
      if (known.isPresent()) {
        return CompletableFuture.completedFuture(known.get());
      }
      CompletableFuture<Map<WorkloadId, StartEstimate>> asked = underWay.get(clusterQueue);
      if (asked != null) {
        return asked;
      }
      if (underWay.size() >= MOST_WAITING || isPausing(now)) {
        return CompletableFuture.completedFuture(Map.of());
      }
      answer = new CompletableFuture<>();
      underWay.put(clusterQueue, answer);
    }
    var unused =
        estimator
            .state()
            .thenApplyAsync(state -> compute(clusterQueue, state), oneByOne)
            .whenComplete((estimates, failure) -> answered(clusterQueue, estimates, failure));
    return answer;
  }

  private void answered(
      String clusterQueue,
      @Nullable Map<WorkloadId, StartEstimate> estimates,
      @Nullable Throwable failure) {
    CompletableFuture<Map<WorkloadId, StartEstimate>> answer;
    synchronized (this) {
      answer = underWay.remove(clusterQueue);
    }
    if (answer == null) {
      return;
    }
    if (estimates == null) {
      answer.completeExceptionally(
          failure == null ? new IllegalStateException("no estimates") : failure);
    } else {
      answer.complete(estimates);
    }
  }

  private Map<WorkloadId, StartEstimate> compute(String clusterQueue, EngineState state) {
    // another queue of the tree may have been asked for meanwhile
    Optional<Map<WorkloadId, StartEstimate>> known = fresh(clusterQueue, clock.instant());
    if (known.isPresent()) {
      return known.get();
    }
    TreeRoot root = state.roots().get(clusterQueue);
    if (root == null) {
      return Map.of();
    }
    long begun = cpuNanos.getAsLong();
    Forecast forecast;
    try {
      EngineState treeState = state.ofTree(root.name());
      Set<WorkloadId> wanted = wanted(treeState, clusterQueue);
      forecast =
          new Forecast(
              treeState.clusterQueues().stream()
                  .filter(queue -> queue.name().equals(clusterQueue) || isWhole(queue, wanted))
                  .map(ClusterQueueExport::name)
                  .collect(Collectors.toUnmodifiableSet()),
              state.now(),
              Map.copyOf(estimator.forecast(treeState, wanted::contains)));
    } finally {
      charge(Duration.ofNanos(Math.max(0, cpuNanos.getAsLong() - begun)));
    }
    synchronized (this) {
      forecasts.addFirst(forecast);
      forget(clock.instant());
    }
    CompletableFuture.delayedExecutor(StartEstimator.FRESH.toMillis(), TimeUnit.MILLISECONDS)
        .execute(this::forget);
    return forecast.estimates();
  }

  /** Keeps others from beginning, also if the forecast failed. */
  private synchronized void charge(Duration taken) {
    Instant now = clock.instant();
    notBefore = (isPausing(now) ? notBefore : now).plus(taken.multipliedBy(PAUSE_PER_FORECAST));
    charged = now;
  }

  /** A clock that was set back ends a pause, instead of making it longer. */
  private synchronized boolean isPausing(Instant now) {
    return now.isBefore(notBefore) && !now.isBefore(charged);
  }

  /** Whether estimates of all pending Workloads of a queue are computed. */
  private static boolean isWhole(ClusterQueueExport queue, Set<WorkloadId> wanted) {
    return queue.pending().classes().stream()
        .flatMap(each -> each.workloads().stream())
        .allMatch(workload -> wanted.contains(workload.id()));
  }

  /** The Workloads of which estimates are computed: first those of the queue that was asked for. */
  private static Set<WorkloadId> wanted(EngineState treeState, String clusterQueue) {
    Set<WorkloadId> wanted = new HashSet<>();
    treeState.clusterQueues().stream()
        .sorted(Comparator.comparing(queue -> !queue.name().equals(clusterQueue)))
        .flatMap(queue -> queue.pending().classes().stream())
        .flatMap(each -> each.workloads().stream())
        .limit(MOST_WORKLOADS)
        .forEach(workload -> wanted.add(workload.id()));
    return wanted;
  }

  private synchronized void forget() {
    forget(clock.instant());
  }

  /** Forgets forecasts that are too old, and the oldest beyond the bound. */
  private void forget(Instant now) {
    forecasts.removeIf(each -> !isFresh(each, now));
    int kept = forecasts.stream().mapToInt(each -> each.estimates().size()).sum();
    while (kept > MOST_KEPT || forecasts.size() > MOST_FORECASTS) {
      kept -= forecasts.removeLast().estimates().size();
    }
  }
}
