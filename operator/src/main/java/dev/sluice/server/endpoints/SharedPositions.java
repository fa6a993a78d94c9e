package dev.sluice.server.endpoints;

import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.server.http.OverBudgetException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks the engine on behalf of clients, so that they can't keep its thread from deciding. The
 * positions of a ClusterQueue are asked for once for all who want to know them within a short time,
 * and pages are cut from them on the clients' threads; nothing is asked or kept while nobody wants
 * to know. One question is under way at a time, and after each the engine has four times as long
 * for itself. Thread-safe.
 */
public final class SharedPositions implements SchedulerQueries {

  private static final Duration YOUNGEST = Duration.ofMillis(100);
  private static final Duration OLDEST = Duration.ofSeconds(5);

  /** Positions that nobody asked for again don't stay. */
  private static final Duration FORGOTTEN_AFTER = Duration.ofSeconds(10);

  /** Positions of a queue of 100,000 are shared for a second. */
  private static final Duration PER_POSITION = Duration.ofNanos(10_000);

  private static final int PAUSE_PER_QUESTION = 4;
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(250);
  private static final int MAX_WAITING = 100;
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final SchedulerQueries engine;
  private final SchedulerViews views;
  private final InstantSource clock;
  private final Executor threads = task -> Thread.ofVirtual().name("engine-answer").start(task);
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Snapshot> snapshots = new HashMap<>();
  private final Queue<Question<?>> waiting = new ArrayDeque<>();
  private boolean asking;

  /**
   * Shares the answers of an engine.
   *
   * @param views the engine's published views, which tell the ClusterQueues of LocalQueues
   */
  public SharedPositions(SchedulerQueries engine, SchedulerViews views, InstantSource clock) {
    this.engine = engine;
    this.views = views;
    this.clock = clock;
  }

  /** A question that waits for its turn. */
  private record Question<T>(Supplier<CompletableFuture<T>> ask, CompletableFuture<T> answer) {}

  /** The positions of a ClusterQueue at one moment; empty if it is unknown. */
  private static final class Positions {
    private final Optional<List<PendingPosition>> all;
    private @Nullable Map<LocalQueueId, List<PendingPosition>> byLocalQueue;

    Positions(Optional<List<PendingPosition>> all) {
      this.all = all;
    }

    synchronized List<PendingPosition> of(LocalQueueId localQueue) {
      Map<LocalQueueId, List<PendingPosition>> index = byLocalQueue;
      if (index == null) {
        index = new HashMap<>();
        for (PendingPosition each : all.orElse(List.of())) {
          index
              .computeIfAbsent(
                  new LocalQueueId(each.id().namespace(), each.queueName()),
                  any -> new ArrayList<>())
              .add(each);
        }
        byLocalQueue = index;
      }
      return index.getOrDefault(localQueue, List.of());
    }
  }

  private static final class Snapshot {
    private final CompletableFuture<Positions> positions = new CompletableFuture<>();
    private volatile Instant until = Instant.MAX;
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit) {
    return snapshot(clusterQueue)
        .thenApplyAsync(positions -> positions.all.map(all -> page(all, offset, limit)), threads);
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit) {
    Optional<String> clusterQueue = views.localQueue(queue).map(LocalQueueView::clusterQueue);
    if (clusterQueue.isEmpty()) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    return snapshot(clusterQueue.get())
        .thenComposeAsync(
            positions ->
                positions.all.isPresent()
                    ? CompletableFuture.completedFuture(
                        Optional.of(page(positions.of(queue), offset, limit)))
                    : submit(() -> engine.pendingInLocalQueue(queue, offset, limit)),
            threads);
  }

  private static List<PendingPosition> page(List<PendingPosition> all, int offset, int limit) {
    int from = Math.min(Math.max(0, offset), all.size());
    int to = (int) Math.min(all.size(), (long) from + Math.max(0, limit));
    return List.copyOf(all.subList(from, to));
  }

  /** The positions of a ClusterQueue that are young enough, or that are being asked for. */
  private CompletableFuture<Positions> snapshot(String clusterQueue) {
    Snapshot made;
    lock.lock();
    try {
      Snapshot known = snapshots.get(clusterQueue);
      if (known != null && clock.instant().isBefore(known.until)) {
        return known.positions;
      }
      made = new Snapshot();
      snapshots.put(clusterQueue, made);
    } finally {
      lock.unlock();
    }
    try {
      var unused =
          submit(() -> engine.pendingInClusterQueue(clusterQueue, 0, Integer.MAX_VALUE))
              .whenComplete((all, failure) -> answered(clusterQueue, made, all, failure));
    } catch (OverBudgetException e) {
      answered(clusterQueue, made, null, e);
      throw e;
    }
    return made.positions;
  }

  private void answered(
      String clusterQueue,
      Snapshot snapshot,
      @Nullable Optional<List<PendingPosition>> all,
      @Nullable Throwable failure) {
    if (all == null || failure != null) {
      forget(clusterQueue, snapshot);
      snapshot.positions.completeExceptionally(
          failure == null ? new IllegalStateException("no answer") : failure);
      return;
    }
    Duration age = age(all.map(List::size).orElse(0));
    snapshot.until = clock.instant().plus(age);
    CompletableFuture.delayedExecutor(FORGOTTEN_AFTER.toMillis(), TimeUnit.MILLISECONDS, threads)
        .execute(() -> forget(clusterQueue, snapshot));
    snapshot.positions.complete(new Positions(all));
  }

  /** How long the positions of so many Workloads are shared. */
  static Duration age(int positions) {
    Duration age = PER_POSITION.multipliedBy(positions);
    return age.compareTo(YOUNGEST) < 0 ? YOUNGEST : age.compareTo(OLDEST) > 0 ? OLDEST : age;
  }

  private void forget(String clusterQueue, Snapshot snapshot) {
    lock.lock();
    try {
      snapshots.remove(clusterQueue, snapshot);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Asks when its turn comes, unless the answer was cancelled before.
   *
   * @throws OverBudgetException when too many questions wait
   */
  private <T> CompletableFuture<T> submit(Supplier<CompletableFuture<T>> ask) {
    Question<T> question = new Question<>(ask, new CompletableFuture<>());
    boolean next;
    lock.lock();
    try {
      if (waiting.size() >= MAX_WAITING) {
        throw new OverBudgetException("too many questions about queues at a time", RETRY);
      }
      waiting.add(question);
      next = !asking;
      asking = true;
    } finally {
      lock.unlock();
    }
    if (next) {
      next();
    }
    return question.answer();
  }

  private void next() {
    Question<?> question;
    lock.lock();
    try {
      question = waiting.poll();
      while (question != null && question.answer().isDone()) {
        question = waiting.poll();
      }
      asking = question != null;
    } finally {
      lock.unlock();
    }
    if (question != null) {
      ask(question);
    }
  }

  private <T> void ask(Question<T> question) {
    long begun = System.nanoTime();
    // The engine's thread completes the answer, and must not go on with it.
    var unused =
        question
            .ask()
            .get()
            .whenCompleteAsync(
                (answer, failure) -> {
                  pauseThenNext(Duration.ofNanos(System.nanoTime() - begun));
                  if (failure != null) {
                    question.answer().completeExceptionally(failure);
                  } else {
                    question.answer().complete(answer);
                  }
                },
                threads);
  }

  private void pauseThenNext(Duration taken) {
    Duration pause = taken.multipliedBy(PAUSE_PER_QUESTION);
    long nanos = Math.min(pause.toNanos(), LONGEST_PAUSE.toNanos());
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, threads).execute(this::next);
  }

  @Override
  public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
    return submit(() -> engine.pendingReason(id));
  }

  @Override
  public CompletableFuture<Optional<TopologyView>> topology(String flavor) {
    return submit(() -> engine.topology(flavor));
  }

  @Override
  public CompletableFuture<List<PlannedStart>> plannedStarts(String clusterQueue) {
    return submit(() -> engine.plannedStarts(clusterQueue));
  }

  @Override
  public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
    return engine.unreportedExplanations(max);
  }
}
