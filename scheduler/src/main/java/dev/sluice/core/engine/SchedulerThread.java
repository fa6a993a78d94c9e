package dev.sluice.core.engine;

import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.core.topology.TopologyView;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The thread that runs the engine: it takes messages from the mailbox, applies their events, runs
 * cycles until there is no head to evaluate, and publishes views. One round applies up to {@link
 * #BATCH} messages before the next cycle, so that a burst of finished Workloads costs one cycle.
 */
public final class SchedulerThread implements SchedulerEventSink, SchedulerQueries, AutoCloseable {

  /** The most messages that are applied between two cycles. */
  private static final int BATCH = 10_000;

  private static final Duration TICK = Duration.ofMillis(250);

  /**
   * After this number of consecutive cycles without a decision, the thread waits for messages for
   * {@link #IDLE_WAIT}.
   */
  private static final int MAX_CYCLES_WITHOUT_DECISION = 100;

  private static final Duration IDLE_WAIT = Duration.ofMillis(10);
  private static final Duration PUBLISH_INTERVAL = Duration.ofMillis(100);

  private sealed interface Message {
    record EventMessage(SchedulerEvent schedulerEvent) implements Message {}

    record Query(Consumer<Engine> action) implements Message {}
  }

  private final LinkedBlockingQueue<Message> mailbox = new LinkedBlockingQueue<>();
  private final Engine engine;
  private final ViewPublisher viewPublisher = new ViewPublisher();
  private final InstantSource clock;
  private final CycleListener cycles;
  private final Thread thread;
  private EngineListener listener = EngineListener.NONE;
  private Instant published = Instant.EPOCH;
  private volatile boolean closed;
  private volatile long exportNanos;

  /** Listener for cycles, called on the engine's thread. */
  @FunctionalInterface
  public interface CycleListener {

    /** Called after a cycle; a success admits a Workload, or evicts one for another. */
    void cycled(long nanos, boolean success);

    /** Called after a cycle, with what happened to heads that need preemption. */
    default void measured(CycleStatistics statistics) {}

    /**
     * Called when a message couldn't be applied, which is a defect of the engine; it goes on with
     * the next one.
     *
     * @param message the event or question, as text
     */
    default void notApplied(String message, RuntimeException e) {}
  }

  /**
   * Creates a thread that is not running yet.
   *
   * @param options how it decides
   * @param decisions receives each decision on the engine's thread; must not block
   * @param cycles listener for cycles
   * @param clock source of the current time
   * @param onFailure called when the engine fails; the engine doesn't decide after that, so the
   *     process has to restart from the API server's state
   */
  public SchedulerThread(
      EngineOptions options,
      Consumer<Decision> decisions,
      CycleListener cycles,
      InstantSource clock,
      Consumer<Throwable> onFailure) {
    this.decisionCounter = new DecisionCounter(decisions);
    this.engine = new Engine(options, decisionCounter);
    this.cycles = cycles;
    this.clock = clock;
    this.thread =
        Thread.ofPlatform()
            .name("engine")
            .uncaughtExceptionHandler((failedThread, e) -> onFailure.accept(e))
            .unstarted(this::run);
  }

  /**
   * Sets the listener for events, cycles and decisions; to be called before the thread is started.
   */
  public void record(EngineListener engineListener) {
    listener = engineListener;
    decisionCounter.listener = engineListener;
  }

  /** Adds a listener for changed views, called on the engine's thread; must not block. */
  public void listen(ViewListener listener) {
    viewPublisher.listen(listener);
  }

  private final DecisionCounter decisionCounter;

  private static final class DecisionCounter implements Consumer<Decision> {
    private final Consumer<Decision> sink;
    private EngineListener listener = EngineListener.NONE;
    private int successes;
    private int decisions;

    DecisionCounter(Consumer<Decision> sink) {
      this.sink = sink;
    }

    @Override
    public void accept(Decision decision) {
      if (decision instanceof Decision.Admit || decision instanceof Decision.Preempt) {
        successes++;
      }
      decisions++;
      listener.decided(decision);
      sink.accept(decision);
    }
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  @Override
  public void submit(SchedulerEvent schedulerEvent) {
    mailbox.add(new Message.EventMessage(schedulerEvent));
  }

  /** The published views. */
  public SchedulerViews views() {
    return viewPublisher;
  }

  private void run() {
    List<Message> messages = new ArrayList<>();
    Duration wait = TICK;
    while (!closed) {
      try {
        Message first = mailbox.poll(wait.toMillis(), TimeUnit.MILLISECONDS);
        if (first != null) {
          messages.add(first);
          mailbox.drainTo(messages, BATCH);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      wait = round(messages) ? IDLE_WAIT : TICK;
      messages.clear();
    }
  }

  /**
   * Applies messages and runs cycles.
   *
   * @return whether there are more heads to evaluate: active heads may be evaluated again and
   *     again, flavor after flavor, and only an event can change the result
   */
  private boolean round(List<Message> messages) {
    Instant now = clock.instant();
    listener.roundStarts(engine);
    apply(new SchedulerEvent.TimePassed(now));
    for (Message message : messages) {
      apply(message);
    }
    boolean more = true;
    int cyclesWithoutDecision = 0;
    while (more && cyclesWithoutDecision < MAX_CYCLES_WITHOUT_DECISION && mailbox.size() < BATCH) {
      int before = decisionCounter.decisions;
      more = cycle();
      cyclesWithoutDecision = decisionCounter.decisions > before ? 0 : cyclesWithoutDecision + 1;
    }
    if (!now.isBefore(published.plus(PUBLISH_INTERVAL)) || mailbox.isEmpty()) {
      viewPublisher.publish(engine);
      published = now;
    }
    return more;
  }

  private boolean cycle() {
    int before = decisionCounter.successes;
    long start = System.nanoTime();
    listener.cycles();
    boolean evaluated = engine.cycle();
    CycleStatistics statistics = engine.statistics();
    listener.cycled(statistics);
    if (evaluated) {
      cycles.cycled(System.nanoTime() - start, decisionCounter.successes > before);
    }
    if (evaluated || !statistics.backfill().isEmpty()) {
      cycles.measured(statistics);
    }
    return evaluated;
  }

  /**
   * Applies a message. A message that fails is a defect of the engine: it is told, and the next
   * message is read.
   */
  private void apply(Message message) {
    try {
      switch (message) {
        case Message.EventMessage(var schedulerEvent) -> apply(schedulerEvent);
        case Message.Query(var action) -> action.accept(engine);
      }
    } catch (RuntimeException e) {
      cycles.notApplied(message.toString(), e);
    }
  }

  private void apply(SchedulerEvent schedulerEvent) {
    listener.applies(schedulerEvent);
    engine.apply(schedulerEvent);
  }

  private <T> CompletableFuture<T> submitQuery(Function<Engine, T> query) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    mailbox.add(
        new Message.Query(
            state -> {
              try {
                answer.complete(query.apply(state));
              } catch (RuntimeException e) {
                answer.completeExceptionally(e);
              }
            }));
    return answer;
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit) {
    return submitQuery(
        state ->
            state.queries().isKnown(clusterQueue)
                ? Optional.of(page(state.queries().pendingIn(clusterQueue), offset, limit))
                : Optional.empty());
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit) {
    return submitQuery(
        state ->
            state.queries().isKnown(queue)
                ? Optional.of(page(state.queries().pendingIn(queue), offset, limit))
                : Optional.empty());
  }

  private static List<PendingPosition> page(
      List<PendingPosition> positions, int offset, int limit) {
    int from = Math.min(Math.max(0, offset), positions.size());
    int to = (int) Math.min(positions.size(), (long) from + Math.max(0, limit));
    return List.copyOf(positions.subList(from, to));
  }

  @Override
  public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
    return submitQuery(state -> state.queries().pendingReason(id));
  }

  /**
   * The pending Workloads of every ClusterQueue, in sums; answered between cycles.
   *
   * @param names whether requests with other names of pod sets are different ones
   */
  public CompletableFuture<Map<String, PendingTotals>> pendingTotals(boolean names) {
    return submitQuery(state -> state.queries().pendingTotals(names));
  }

  /** The engine's whole state as a value, between cycles (docs/engine-state.md#costs). */
  public CompletableFuture<EngineState> state() {
    return submitQuery(
        state -> {
          long start = System.nanoTime();
          EngineState exported = state.export();
          exportNanos = System.nanoTime() - start;
          return exported;
        });
  }

  /** How long the thread was busy with the last {@link #state}. */
  public Duration stateTook() {
    return Duration.ofNanos(exportNanos);
  }

  /** The budgets and what was spent of each, between cycles. */
  public CompletableFuture<List<BudgetAccount.OfBudget>> budgets() {
    return submitQuery(Engine::budgets);
  }

  /** The Workloads that have to go, because capacity that they use is kept from now on. */
  public CompletableFuture<List<ReservedCapacity.Overstay>> overstays() {
    return submitQuery(Engine::overstays);
  }

  @Override
  public CompletableFuture<Optional<TopologyView>> topology(String flavor) {
    return submitQuery(state -> state.queries().topology(flavor));
  }

  @Override
  public CompletableFuture<List<PlannedStart>> plannedStarts(String clusterQueue) {
    return submitQuery(state -> state.queries().plannedStarts(clusterQueue));
  }

  @Override
  public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
    return submitQuery(state -> state.unreported().take(max));
  }

  /** Stops the thread after the current round; messages in the mailbox are dropped. */
  @Override
  public void close() {
    closed = true;
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    thread.interrupt();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Listener for everything that the engine's decisions depend on, and for the decisions, in order.
   * Called on the engine's thread; must neither block nor throw.
   */
  public interface EngineListener {

    /** Nobody listens. */
    EngineListener NONE = new EngineListener() {};

    /** A round starts: no event is being applied, and no cycle runs. */
    default void roundStarts(Engine engine) {}

    /** The engine applies this event next. */
    default void applies(SchedulerEvent event) {}

    /** The engine runs a cycle next, which may evaluate nothing. */
    default void cycles() {}

    /** A cycle has run, which may have evaluated nothing. */
    default void cycled(CycleStatistics statistics) {}

    /** The engine has decided. */
    default void decided(Decision decision) {}
  }

  /** Listener for published views. Called on the engine's thread: must return quickly. */
  public interface ViewListener {

    /** Called when views of these queues and cohorts were replaced or removed. */
    void changed(Set<String> clusterQueues, Set<LocalQueueId> localQueues, Set<String> cohorts);
  }
}
