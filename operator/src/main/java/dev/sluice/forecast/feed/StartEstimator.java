package dev.sluice.forecast.feed;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.feed.RunTimeRecorder.WorkloadRuns;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.forecast.starts.StartCalibration;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.forecast.starts.WaitHistory;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.RecordSize;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.status.Variants;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says when pending Workloads start, when somebody asks (docs/expected-starts.md#in-operation).
 * Computes on a thread of its own, from a copy of the engine's state. Thread-safe.
 */
public final class StartEstimator implements WorkloadListener {

  private static final Logger LOG = LoggerFactory.getLogger(StartEstimator.class);

  /** An answer is given again for so long. */
  static final Duration FRESH = Duration.ofSeconds(5);

  /** Whoever asks waits for so long. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** Plays of so many Workloads together; fewer plays for larger states. */
  private static final int WORK = 100_000;

  private static final int LEAST_PLAYS = 11;

  /** So many computations may wait; whoever asks beyond that gets no answer. */
  private static final int MOST_WAITING = 4;

  /** A computation is ended after so long; what was played until then is told. */
  private static final Duration LONGEST = Duration.ofSeconds(2);

  private static final int REMEMBERED = 10_000;

  private final Supplier<CompletableFuture<EngineState>> states;
  private final WorkloadSource workloads;
  private final Function<CachedWorkload, WorkloadRunTime> runTimes;
  private final Function<CachedWorkload, String> clusterQueues;
  private final InstantSource clock;
  private final Executor oneByOne;
  private final Semaphore mayWait = new Semaphore(MOST_WAITING);

  /** The latest answers; guarded by itself. */
  private final Map<WorkloadId, StartEstimate> answers = bounded();

  /** What was told first of Workloads that haven't started; guarded by {@link #waits}. */
  private final Map<WorkloadId, FirstAnswer> firstAnswers = bounded();

  private volatile StartListener listener = (_, _) -> {};

  private final RecentArrivals arrivals = new RecentArrivals();

  /** What the engine is told of Workloads; empty while nobody counts arrivals. */
  private volatile Optional<Function<CachedWorkload, SchedulerEvent>> translator = Optional.empty();

  /** Whether all Workloads that were there before this process have been told. */
  private volatile boolean listed;

  /** Guarded by {@link #waits}. */
  private final StartCalibration calibration = new StartCalibration();

  /** Guarded by itself. */
  private final WaitHistory waits = new WaitHistory(RunTimeOptions.DEFAULT);

  /** What the plays said of a Workload first, and what was told for it. */
  private record FirstAnswer(StartEstimate played, StartEstimate toldEstimate) {}

  /** Told of Workloads that start after an estimate of them was given. */
  @FunctionalInterface
  public interface StartListener {
    /** A Workload of which this estimate was told first has started. */
    void started(StartEstimate estimate, Instant at);
  }

  /** Where Workloads are found by their identity. */
  @FunctionalInterface
  public interface WorkloadSource {
    /** The Workload; empty if it doesn't exist. */
    Optional<CachedWorkload> get(WorkloadId id);
  }

  /**
   * An estimator.
   *
   * @param states the engine's state, asked for when somebody asks
   * @param runTimes how long Workloads run
   * @param clusterQueues the ClusterQueue of a Workload; empty text if it has none
   * @param oneByOne runs the computations, one at a time
   */
  public StartEstimator(
      Supplier<CompletableFuture<EngineState>> states,
      WorkloadSource workloads,
      Function<CachedWorkload, WorkloadRunTime> runTimes,
      Function<CachedWorkload, String> clusterQueues,
      InstantSource clock,
      Executor oneByOne) {
    this.states = states;
    this.workloads = workloads;
    this.runTimes = runTimes;
    this.clusterQueues = clusterQueues;
    this.clock = clock;
    this.oneByOne = oneByOne;
  }

  /** From now on tells this one of starts. */
  public void onStart(StartListener listener) {
    this.listener = listener;
  }

  /**
   * From now on Workloads that arrive are remembered, and others like them arrive in plays.
   *
   * @param translator what the engine is told of a Workload
   */
  public void expectArrivals(Function<CachedWorkload, SchedulerEvent> translator) {
    this.translator = Optional.of(translator);
  }

  /**
   * Whether an answer is given again; not while it is of the future of a clock that was set back.
   */
  static boolean isFresh(Instant computedAt, Instant now) {
    return !now.isBefore(computedAt) && now.isBefore(computedAt.plus(FRESH));
  }

  private static <V> Map<WorkloadId, V> bounded() {
    return new LinkedHashMap<>() {
      private static final long serialVersionUID = 1;

      @Override
      protected boolean removeEldestEntry(Map.Entry<WorkloadId, V> eldest) {
        return size() > REMEMBERED;
      }
    };
  }

  /**
   * When a pending Workload starts: an answer of at most five seconds ago, or a new one. Empty if
   * it isn't in a queue, or if there is no answer in time; one that comes late is given to whoever
   * asks next.
   */
  public Optional<StartEstimate> of(CachedWorkload workload) {
    Instant now = clock.instant();
    synchronized (answers) {
      StartEstimate known = answers.get(workload.id());
      if (known != null && isFresh(known.computedAt(), now)) {
        return Optional.of(known);
      }
    }
    if (!mayWait.tryAcquire()) {
      return Optional.empty();
    }
    CompletableFuture<Optional<StartEstimate>> answer =
        states
            .get()
            .thenApplyAsync(state -> compute(workload, state), oneByOne)
            .whenComplete((_, _) -> mayWait.release());
    try {
      return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (ExecutionException e) {
      LOG.warn("workload={} expectedStart=unknown", workload.id(), e.getCause());
      return Optional.empty();
    }
  }

  /** The engine's state, of a second ago at most. */
  CompletableFuture<EngineState> state() {
    return states.get();
  }

  private Optional<StartEstimate> compute(CachedWorkload workload, EngineState state) {
    WorkloadId id = workload.id();
    StartEstimate told = forecast(state, id::equals).get(id);
    if (told == null) {
      return Optional.empty();
    }
    synchronized (answers) {
      answers.put(id, told);
    }
    return Optional.of(told);
  }

  /**
   * Plays a state once for all Workloads that are wanted, within the bound of time of one question.
   * Called on the thread of the forecasts.
   */
  Map<WorkloadId, StartEstimate> forecast(EngineState state, Predicate<WorkloadId> wanted) {
    Instant end = clock.instant().plus(LONGEST);
    int size = state.workloads().workloads().size();
    for (EngineState.ClusterQueueExport queue : state.clusterQueues()) {
      size += queue.pending().classes().stream().mapToInt(each -> each.members().size()).sum();
    }
    StartForecast.Options usual = StartForecast.Options.DEFAULT;
    int plays = Math.clamp(WORK / Math.max(1, size), LEAST_PLAYS, usual.plays());
    Map<WorkloadId, StartEstimate> all =
        StartForecast.of(
            state,
            knowledge(Optional.empty()),
            new StartForecast.Options(plays, usual.horizon(), usual.stopping(), usual.seed()),
            new StartForecast.Wanted(wanted, () -> clock.instant().isBefore(end)));
    Map<WorkloadId, StartEstimate> told = new LinkedHashMap<>();
    all.forEach(
        (id, estimate) ->
            workloads
                .get(id)
                .ifPresent(workload -> told.put(id, told(estimate, workload, state.now()))));
    return told;
  }

  private StartEstimate told(StartEstimate played, CachedWorkload workload, Instant now) {
    String clusterQueue = clusterQueues.apply(workload);
    synchronized (waits) {
      StartEstimate estimate = told(played, clusterQueue, workload, now);
      // nobody's first answer makes room for another's: a later one would be taken for the first
      if (firstAnswers.size() < REMEMBERED && isWaiting(workload.id())) {
        firstAnswers.putIfAbsent(workload.id(), new FirstAnswer(played, estimate));
      }
      return estimate;
    }
  }

  /** What has started while it was played isn't measured by its next start, after an eviction. */
  private boolean isWaiting(WorkloadId id) {
    return workloads.get(id).filter(now -> !now.quotaReserved()).isPresent();
  }

  /** What is told of the plays of a Workload that isn't queued: nobody waits for its start. */
  StartEstimate corrected(StartEstimate played, String clusterQueue, CachedWorkload workload) {
    synchronized (waits) {
      return told(played, clusterQueue, workload, played.computedAt());
    }
  }

  private StartEstimate told(
      StartEstimate played, String clusterQueue, CachedWorkload workload, Instant now) {
    if (played.range().isPresent()) {
      StartRange range = calibration.corrected(clusterQueue, played.range().get(), now);
      return new StartEstimate(played.basis(), Optional.of(range), now, played.assumptions());
    }
    if (played.basis() == Basis.NEVER) {
      return played;
    }
    return waits
        .range(clusterQueue, workload.queuedSince(), now)
        .map(
            range ->
                new StartEstimate(
                    Basis.QUEUE_HISTORY, Optional.of(range), now, played.assumptions()))
        .orElse(played);
  }

  /**
   * What is known of Workloads beside the engine's state.
   *
   * @param asked a Workload that doesn't exist
   */
  StartForecast.Knowledge knowledge(Optional<CachedWorkload> asked) {
    return new Knowledge(asked);
  }

  private final class Knowledge implements StartForecast.Knowledge {

    private final Optional<CachedWorkload> asked;

    Knowledge(Optional<CachedWorkload> asked) {
      this.asked = asked;
    }

    @Override
    public RunTimeEstimate runTime(WorkloadId id) {
      return asked
          .filter(workload -> workload.id().equals(id))
          .or(() -> workloads.get(id))
          .map(workload -> runTimes.apply(workload).estimate())
          .orElseGet(
              () -> RunTimeEstimate.of(Optional.empty(), Optional.empty(), Optional.empty()));
    }

    @Override
    public Instant startedAt(WorkloadId id, Instant reservedAt) {
      return workloads
          .get(id)
          .flatMap(workload -> WorkloadRuns.startedAt(workload, clock.instant()))
          .orElse(reservedAt);
    }

    @Override
    public Stream<StartForecast.Arrival> arrivals(Set<String> clusterQueues) {
      return arrivals.of(clusterQueues).stream().flatMap(workload -> arrival(workload).stream());
    }
  }

  /** How a Workload arrived; empty if it wouldn't be queued now. */
  private Optional<StartForecast.Arrival> arrival(CachedWorkload workload) {
    return queued(workload)
        .map(pending -> new StartForecast.Arrival(pending, runTimes.apply(workload).estimate()));
  }

  /** What the engine is told of a Workload that may get quota; empty for others. */
  private Optional<PendingWorkload> queued(CachedWorkload workload) {
    return translator
        .map(of -> of.apply(workload))
        .filter(SchedulerEvent.WorkloadPending.class::isInstance)
        .map(event -> ((SchedulerEvent.WorkloadPending) event).workload())
        .filter(pending -> !pending.held() && pending.defect().isEmpty());
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (listed && before == null && after != null && isArrival(after)) {
      String clusterQueue = clusterQueues.apply(after);
      if (!clusterQueue.isEmpty() && queued(after).isPresent()) {
        arrivals.arrived(clusterQueue, after);
      }
    }
    // a Workload that was reserving when it was first seen says nothing of how long it waited
    if (before != null && !before.quotaReserved() && after != null && after.quotaReserved()) {
      started(after, before.queuedSince(), clock.instant());
    } else if (before != null && (after == null || after.finished())) {
      synchronized (waits) {
        firstAnswers.remove(before.id());
      }
    }
  }

  /**
   * Whether a new Workload is one more that runs: of the variants of a parent one runs, and a slice
   * runs in the place of another one.
   */
  private boolean isArrival(CachedWorkload workload) {
    return translator.isPresent()
        && !workload.quotaReserved()
        && !workload.finished()
        && workload.replacedSlice().isEmpty()
        && !Variants.isVariant(workload);
  }

  @Override
  public void synced() {
    listed = true;
  }

  private void started(CachedWorkload workload, Instant queuedSince, Instant now) {
    String clusterQueue = clusterQueues.apply(workload);
    FirstAnswer first;
    synchronized (waits) {
      waits.started(clusterQueue, Duration.between(queuedSince, now), now);
      first = firstAnswers.remove(workload.id());
      if (first != null && first.played().range().isPresent()) {
        StartEstimate played = first.played();
        calibration.started(clusterQueue, played.range().get(), played.computedAt(), now);
      }
    }
    if (first != null) {
      listener.started(first.toldEstimate(), now);
    }
    synchronized (answers) {
      answers.remove(workload.id());
    }
  }

  /**
   * The Workloads that arrived lately, each as it was when it arrived
   * (docs/expected-starts.md#arrivals). Bounded in number and in memory, of which no namespace
   * takes what others need. Thread-safe.
   */
  static final class RecentArrivals {

    /** So many of a ClusterQueue are remembered, and are told of several. */
    static final int MOST_AT_ONCE = StartForecast.MOST_ARRIVALS;

    /**
     * So many are remembered in all, a large one counted for several; beyond that the namespace
     * that has most forgets its oldest.
     */
    static final int MOST = 5_000;

    /** A Workload counts once for each so many bytes, about, that it takes; about 20 MB in all. */
    static final int COUNTED_BYTES = 4 * 1024;

    /** A Workload that would be counted more often isn't remembered. */
    static final int MOST_OF_ONE = 8;

    /** By ClusterQueue, the latest last. Guarded by this object. */
    private final Map<String, Deque<Arrived>> byQueue = new HashMap<>();

    /** Guarded by this object. */
    private final Map<String, Share> byNamespace = new HashMap<>();

    /** Guarded by this object. */
    private int count;

    /** Guarded by this object. */
    private long last;

    /**
     * A Workload that is remembered.
     *
     * @param number of two arrivals the later one has the higher number
     * @param count for how many it counts
     */
    private record Arrived(long number, String clusterQueue, int count, CachedWorkload workload) {}

    /** What is remembered of a namespace, the latest last. */
    private static final class Share {
      private final Deque<Arrived> arrived = new ArrayDeque<>();
      private int count;

      private int count() {
        return count;
      }

      private long oldest() {
        return arrived.getFirst().number();
      }
    }

    /** A Workload has arrived at a ClusterQueue; a very large one is left out. */
    void arrived(String clusterQueue, CachedWorkload workload) {
      long counted = 1 + RecordSize.bytes(workload) / COUNTED_BYTES;
      if (counted <= MOST_OF_ONE) {
        add(clusterQueue, (int) counted, workload.with(CachedWorkload.Status.NEW));
      }
    }

    private synchronized void add(String clusterQueue, int counted, CachedWorkload workload) {
      Arrived latest = new Arrived(++last, clusterQueue, counted, workload);
      Deque<Arrived> of = byQueue.computeIfAbsent(clusterQueue, _ -> new ArrayDeque<>());
      of.addLast(latest);
      Share share = byNamespace.computeIfAbsent(workload.id().namespace(), _ -> new Share());
      share.arrived.addLast(latest);
      share.count += counted;
      count += counted;
      if (of.size() > MOST_AT_ONCE) {
        forget(of.getFirst());
      }
      while (count > MOST) {
        forget(largest().arrived.getFirst());
      }
    }

    /** The share that counts most; of equal ones that with the oldest arrival. */
    private Share largest() {
      return byNamespace.values().stream()
          .max(
              Comparator.comparingInt(Share::count)
                  .thenComparing(Comparator.comparingLong(Share::oldest).reversed()))
          .orElseThrow();
    }

    private void forget(Arrived arrived) {
      byQueue.computeIfPresent(
          arrived.clusterQueue(),
          (_, of) -> {
            of.remove(arrived);
            return of.isEmpty() ? null : of;
          });
      byNamespace.computeIfPresent(
          arrived.workload().id().namespace(),
          (_, share) -> {
            share.arrived.remove(arrived);
            share.count -= arrived.count();
            return share.arrived.isEmpty() ? null : share;
          });
      count -= arrived.count();
    }

    /** The last arrivals at these ClusterQueues together, in the order of their creation. */
    synchronized List<CachedWorkload> of(Set<String> clusterQueues) {
      List<CachedWorkload> all =
          byQueue.entrySet().stream()
              .filter(each -> clusterQueues.contains(each.getKey()))
              .flatMap(each -> each.getValue().stream())
              .map(Arrived::workload)
              .sorted(Comparator.comparing(CachedWorkload::createdAt))
              .toList();
      return all.subList(Math.max(0, all.size() - MOST_AT_ONCE), all.size());
    }
  }
}
