package dev.sluice.app.module;

import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.QueueStartEstimates;
import dev.sluice.forecast.feed.RunBoundFeed;
import dev.sluice.forecast.feed.RunBounds;
import dev.sluice.forecast.feed.RunTimeEstimator;
import dev.sluice.forecast.feed.RunTimeRecorder;
import dev.sluice.forecast.feed.RunTimeStore;
import dev.sluice.forecast.feed.SharedEngineState;
import dev.sluice.forecast.feed.StartEstimator;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.metrics.RunTimeMetrics;
import dev.sluice.metrics.StartMetrics;
import dev.sluice.queues.cache.CachedQueueRules;
import dev.sluice.queues.cache.CachedRunTimeRules;
import dev.sluice.server.endpoints.VisibilityEndpoint;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long jobs run: recorded by every replica, saved by the leader, asked by who explains. Starts
 * before Workloads are listed, because what was saved tells which of them were recorded.
 */
public final class RunTimeModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(RunTimeModule.class);

  /** How long what was learned waits until it counts for those who wait, at least. */
  private static final Duration SHORTEST_REST = Duration.ofSeconds(10);

  /** Telling it takes at most one part in so many of a processor's time. */
  private static final int REST_FACTOR = 50;

  /** How long the shutdown waits for the last write. */
  private static final Duration LAST_SAVE = Duration.ofSeconds(5);

  private final OperatorContext context;
  private final ExecutorService oneByOne =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("run-times").factory());
  private final RunTimeRecorder recorder;
  private final RunTimeEstimator estimator;
  private final RunBounds runBounds;

  /** Whether any queue counts with what was learned. */
  private final CachedQueueRules learningQueues;

  private final PacedTask boundsTask;
  private final AtomicBoolean restated = new AtomicBoolean();
  private final ExecutorService forecasts =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("forecasts").daemon().priority(Thread.MIN_PRIORITY).factory());
  private final StartEstimator starts;
  private final QueueStarts queueStarts;
  private final RunTimeMetrics metrics;
  private final StartMetrics startMetrics;

  /** Used by one task at a time. */
  private final RunTimeStore store;

  private final AtomicBoolean saveAwaited = new AtomicBoolean();
  private volatile boolean leading;

  /** Connected to the Workloads that {@code workloads} reads, and to the engine. */
  public RunTimeModule(
      OperatorContext context,
      InformerModule informers,
      WorkloadModule workloads,
      SchedulerModule scheduler) {
    this.context = context;
    CachedRunTimeRules rules = new CachedRunTimeRules(informers.caches());
    Function<CachedWorkload, String> clusterQueues =
        workload -> rules.clusterQueue(workload.id().namespace(), workload.spec().queueName());
    recorder =
        new RunTimeRecorder(
            context.options().runTimes(), clusterQueues, oneByOne, context.clock(), this::recorded);
    metrics = new RunTimeMetrics(context.metrics(), context::role, recorder::groups);
    estimator =
        new RunTimeEstimator(
            recorder::learned,
            workload -> rules.defaultOf(workload.id().namespace(), workload.spec().queueName()),
            context.clock());
    scheduler.costs().estimateBy(workload -> estimator.of(workload).estimate());
    scheduler.budgets().boundRunsBy(estimator::stated);
    CachedQueueRules boundingQueues =
        new CachedQueueRules(
            informers.caches(),
            queue -> queue.backfill().isPresent() || queue.cheapest().isPresent());
    runBounds =
        new RunBounds(
            estimator::of,
            workload -> rules.maxRunTime(workload.id().namespace(), workload.spec().queueName()));
    RunBoundFeed bounds =
        new RunBoundFeed(
            scheduler.engine(),
            runBounds,
            () -> boundingQueues.getAsBoolean() || !scheduler.reservations().isEmpty());
    Runnable tellAll = () -> bounds.tellAll(workloads.cache().all(), latest(workloads));
    boundingQueues.onFirst(tellAll);
    scheduler.reservations().onPresence(tellAll);
    learningQueues =
        new CachedQueueRules(
            informers.caches(),
            queue ->
                queue.cheapest().isPresent()
                    || queue
                        .backfill()
                        .filter(backfill -> backfill.unknown() == UnknownRunTime.USE_LEARNED)
                        .isPresent());
    boundsTask =
        new PacedTask(
            () -> {
              if (boundingQueues.getAsBoolean() || !scheduler.reservations().isEmpty()) {
                tellAll.run();
              }
              if (restated.getAndSet(false)) {
                scheduler.runTimesRestated();
              }
            });
    rules.onChange(
        () -> {
          restated.set(true);
          boundsTask.ask();
        });
    store = new RunTimeStore(context.requests(1), context.configuration().namespace(), recorder);
    starts =
        new StartEstimator(
            new SharedEngineState(
                scheduler.engine()::state, scheduler.engine()::stateTook, context.clock()),
            id -> workloads.cache().get(id),
            estimator::of,
            clusterQueues,
            context.clock(),
            forecasts);
    startMetrics = new StartMetrics(context.metrics(), context::role);
    starts.onStart(this::started);
    starts.expectArrivals(scheduler.translator()::of);
    queueStarts =
        new QueueStarts(
            rules,
            new QueueStartEstimates(
                starts,
                context.clock(),
                forecasts,
                ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime));
    workloads.reflector().listen(bounds);
    workloads.reflector().listen(recorder);
    workloads.reflector().listen(starts);
  }

  /** Says how long Workloads run. */
  RunTimeEstimator estimator() {
    return estimator;
  }

  /** Says how long Workloads run at most. */
  RunBounds runBounds() {
    return runBounds;
  }

  /** Says when Workloads start. */
  StartEstimator starts() {
    return starts;
  }

  /** Counts what was said of starts. */
  StartMetrics startMetrics() {
    return startMetrics;
  }

  /** Says when the Workloads of a queue start. */
  QueueStarts queueStarts() {
    return queueStarts;
  }

  /** Says when the Workloads of a queue start, to those who show lists. */
  record QueueStarts(CachedRunTimeRules rules, QueueStartEstimates estimates)
      implements VisibilityEndpoint.Starts {

    @Override
    public Map<WorkloadId, StartEstimate> ofClusterQueue(String name, Duration patience) {
      return patience.isZero() ? estimates.known(name) : estimates.of(name, patience);
    }

    @Override
    public Map<WorkloadId, StartEstimate> ofLocalQueue(LocalQueueId queue, Duration patience) {
      return ofClusterQueue(rules.clusterQueue(queue.namespace(), queue.name()), patience);
    }
  }

  private void started(StartEstimate estimate, Instant at) {
    estimate
        .range()
        .ifPresent(
            range ->
                startMetrics.started(
                    estimate.basis().apiName(),
                    Duration.between(range.expected(), at),
                    range.contains(at)));
  }

  private void recorded(FinishedRun.End end) {
    metrics.recorded(end.name().toLowerCase(Locale.ROOT));
    if (learningQueues.getAsBoolean()) {
      boundsTask.ask();
    }
  }

  private static Predicate<CachedWorkload> latest(WorkloadModule workloads) {
    return workload ->
        workloads
            .cache()
            .get(workload.id().namespace(), workload.id().name())
            .filter(latest -> latest.version() == workload.version())
            .isPresent();
  }

  /** Does something soon after it is asked for, once for all who ask, and rests after it. */
  private final class PacedTask {

    private final Runnable task;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile Duration rest = SHORTEST_REST;

    PacedTask(Runnable task) {
      this.task = task;
    }

    void ask() {
      if (asked.compareAndSet(false, true)) {
        later(rest, this::run);
      }
    }

    private void run() {
      asked.set(false);
      long began = System.nanoTime();
      task.run();
      Duration least = Duration.ofNanos(System.nanoTime() - began).multipliedBy(REST_FACTOR);
      rest = least.compareTo(SHORTEST_REST) > 0 ? least : SHORTEST_REST;
    }
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    try {
      store.load();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while run times were read");
    }
  }

  @Override
  public void leadershipStarted() {
    leading = true;
    saveLater();
  }

  /** Saves after a rest, again and again while this process leads. */
  private void saveLater() {
    if (saveAwaited.compareAndSet(false, true)) {
      later(
          store.rest(),
          () -> {
            saveAwaited.set(false);
            if (leading) {
              save();
              saveLater();
            }
          });
    }
  }

  /** Does something after the other tasks of the module; nothing once that is closed. */
  private void later(Duration delay, Runnable task) {
    context.schedule(
        delay,
        () -> {
          try {
            oneByOne.execute(task);
          } catch (RejectedExecutionException e) {
            LOG.debug("run times task=dropped reason=shutdown");
          }
        });
  }

  private void save() {
    try {
      store.save();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.warn("run times saved=false", e);
    }
  }

  @Override
  public void leadershipEnded() {
    leading = false;
  }

  /**
   * Saves what was recorded since the last time, if that takes a few seconds at most. A process
   * that doesn't lead saves nothing.
   */
  @Override
  public void stop() {
    if (!context.leadership().leading()) {
      return;
    }
    try {
      CompletableFuture.runAsync(this::save, oneByOne)
          .get(LAST_SAVE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("run times saved=false reason=\"the process ends\"", e);
    }
  }

  @Override
  public void close() {
    leading = false;
    oneByOne.shutdownNow();
    forecasts.shutdownNow();
  }
}
