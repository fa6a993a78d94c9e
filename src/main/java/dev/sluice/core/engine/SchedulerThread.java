package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that owns the engine: it takes what is in the mailbox, folds it in, runs cycles until
 * nothing is left to look at, and publishes views. When the mailbox is full of news, one round
 * takes it all, so that a burst of ends costs one look at who waits.
 */
public final class SchedulerThread implements SchedulerEventSink, SchedulerQueries, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SchedulerThread.class);

  /** How many facts are folded in between two cycles at most. */
  private static final int BATCH = 10_000;

  private static final Duration TICK = Duration.ofMillis(250);

  /** After so many cycles in a row that change nothing, news is awaited for a moment. */
  private static final int PATIENCE = 100;

  private static final Duration MOMENT = Duration.ofMillis(10);
  private static final Duration PUBLISHING = Duration.ofMillis(100);

  private sealed interface Message {
    record EventMessage(SchedulerEvent schedulerEvent) implements Message {}

    record Query(Consumer<Engine> ask) implements Message {}
  }

  private final LinkedBlockingQueue<Message> mailbox = new LinkedBlockingQueue<>();
  private final Engine engine;
  private final ViewPublisher viewPublisher = new ViewPublisher();
  private final InstantSource clock;
  private final CycleListener cycles;
  private final Thread thread;
  private Instant published = Instant.EPOCH;
  private volatile boolean closed;

  /** Is told of every cycle, on the engine's thread. */
  @FunctionalInterface
  public interface CycleListener {

    /** A cycle took so many nanoseconds, and admitted somebody or not. */
    void cycled(long nanos, boolean admitted);
  }

  /**
   * A loop that is not running yet.
   *
   * @param rules how it decides
   * @param decisions is given each decision on the engine's thread; it must not block
   * @param cycles is told of every cycle
   * @param clock what time it is
   * @param fault is told when the engine itself fails; nothing is decided after that, so the
   *     process is to end and begin anew from the API server's state
   */
  public SchedulerThread(
      EngineOptions rules,
      Consumer<Decision> decisions,
      CycleListener cycles,
      InstantSource clock,
      Consumer<Throwable> fault) {
    this.admissions = new CountingSink(decisions);
    this.engine = new Engine(rules, admissions);
    this.cycles = cycles;
    this.clock = clock;
    this.thread =
        Thread.ofPlatform()
            .name("engine")
            .uncaughtExceptionHandler((failed, e) -> fault.accept(e))
            .unstarted(this::run);
  }

  /** Has a listener told of new views, on the engine's thread; it must not block. */
  public void listen(ViewListener listener) {
    viewPublisher.listen(listener);
  }

  private final CountingSink admissions;

  private static final class CountingSink implements Consumer<Decision> {
    private final Consumer<Decision> sink;
    private int decided;
    private int all;

    CountingSink(Consumer<Decision> sink) {
      this.sink = sink;
    }

    @Override
    public void accept(Decision decision) {
      if (decision instanceof Decision.Admit) {
        decided++;
      }
      all++;
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
      wait = round(messages) ? MOMENT : TICK;
      messages.clear();
    }
  }

  /**
   * Folds news in and decides.
   *
   * @return whether there is more to look at: heads that stay in line may be looked at forever,
   *     flavor after flavor, and only news can change what comes of it
   */
  private boolean round(List<Message> messages) {
    Instant now = clock.instant();
    engine.apply(new SchedulerEvent.TimePassed(now));
    for (Message message : messages) {
      read(message);
    }
    boolean more = true;
    int inVain = 0;
    while (more && inVain < PATIENCE && mailbox.size() < BATCH) {
      int before = admissions.all;
      more = cycle();
      inVain = admissions.all > before ? 0 : inVain + 1;
    }
    if (!now.isBefore(published.plus(PUBLISHING)) || mailbox.isEmpty()) {
      viewPublisher.publish(engine);
      published = now;
    }
    return more;
  }

  private boolean cycle() {
    int before = admissions.decided;
    long start = System.nanoTime();
    boolean looked = engine.cycle();
    if (looked) {
      cycles.cycled(System.nanoTime() - start, admissions.decided > before);
    }
    return looked;
  }

  /** A fact that can't be folded in is a fault of ours: it is logged, and the next one is read. */
  private void read(Message message) {
    try {
      switch (message) {
        case Message.EventMessage(var schedulerEvent) -> engine.apply(schedulerEvent);
        case Message.Query(var ask) -> ask.accept(engine);
      }
    } catch (RuntimeException e) {
      LOG.error("fact={} result=not-folded-in", message, e);
    }
  }

  private <T> CompletableFuture<T> ask(Function<Engine, T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    mailbox.add(
        new Message.Query(
            state -> {
              try {
                answer.complete(question.apply(state));
              } catch (RuntimeException e) {
                answer.completeExceptionally(e);
              }
            }));
    return answer;
  }

  @Override
  public CompletableFuture<List<PendingPosition>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit) {
    return ask(state -> page(state.answers().pendingIn(clusterQueue), offset, limit));
  }

  @Override
  public CompletableFuture<List<PendingPosition>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit) {
    return ask(state -> page(state.answers().pendingIn(queue), offset, limit));
  }

  private static List<PendingPosition> page(List<PendingPosition> all, int offset, int limit) {
    int from = Math.min(Math.max(0, offset), all.size());
    int to = (int) Math.min(all.size(), (long) from + Math.max(0, limit));
    return List.copyOf(all.subList(from, to));
  }

  @Override
  public CompletableFuture<Optional<Waiting>> pendingReason(WorkloadId id) {
    return ask(state -> state.answers().pendingReason(id));
  }

  @Override
  public CompletableFuture<List<Decision.Explain>> unreportedExplanations(int max) {
    return ask(state -> state.unreported().take(max));
  }

  /** Stops the thread after the round it is in; what is in the mailbox is dropped. */
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
}
