package dev.sluice.workload.writing;

import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The order in which writes are sent to the API server: decisions first, in their order, up to a
 * given number at a time. Best-effort writes are sent one at a time, only while no decision waits,
 * and at most once a second while decisions are in flight.
 */
final class PriorityWriteQueue {

  private static final Duration BEST_EFFORT_INTERVAL = Duration.ofSeconds(1);

  private final int most;
  private final InstantSource clock;
  private final Deque<Task> decisions = new ArrayDeque<>();
  private final Deque<Task> bestEffort = new ArrayDeque<>();
  private final CompletableFuture<Void> idle = new CompletableFuture<>();
  private int inFlight;
  private boolean bestEffortInFlight;
  private Instant lastBestEffort = Instant.EPOCH;
  private boolean accepting = true;

  /** A write. */
  interface Task {
    /** Sends the write; {@code done} must be called once, when its outcome is known. */
    void start(Runnable done);

    /** Called instead of {@link #start} when the write will not be sent. */
    void dropped();
  }

  PriorityWriteQueue(int most, InstantSource clock) {
    this.most = most;
    this.clock = clock;
  }

  void submit(Urgency urgency, Task task) {
    boolean accepted;
    synchronized (this) {
      accepted = accepting;
      if (accepted) {
        (urgency == Urgency.DECISION ? decisions : bestEffort).add(task);
      }
    }
    if (accepted) {
      startPermitted();
    } else {
      task.dropped();
    }
  }

  private void startPermitted() {
    List<Runnable> starts = new ArrayList<>();
    synchronized (this) {
      while (inFlight < most && !decisions.isEmpty()) {
        Task task = decisions.remove();
        inFlight++;
        starts.add(() -> task.start(this::decisionCompleted));
      }
      if (mayStartBestEffort()) {
        Task task = bestEffort.remove();
        bestEffortInFlight = true;
        lastBestEffort = clock.instant();
        starts.add(() -> task.start(this::bestEffortCompleted));
      }
    }
    starts.forEach(Runnable::run);
  }

  private boolean mayStartBestEffort() {
    return !bestEffort.isEmpty()
        && !bestEffortInFlight
        && decisions.isEmpty()
        && (inFlight == 0 || !lastBestEffort.plus(BEST_EFFORT_INTERVAL).isAfter(clock.instant()));
  }

  private void decisionCompleted() {
    synchronized (this) {
      inFlight--;
    }
    done();
  }

  private void bestEffortCompleted() {
    synchronized (this) {
      bestEffortInFlight = false;
    }
    done();
  }

  private void done() {
    startPermitted();
    boolean nothingLeft;
    synchronized (this) {
      nothingLeft = !accepting && isIdle();
    }
    if (nothingLeft) {
      idle.complete(null);
    }
  }

  private boolean isIdle() {
    return inFlight == 0 && !bestEffortInFlight && decisions.isEmpty();
  }

  /**
   * Accepts no more writes, and drops best-effort writes; completes when all accepted decisions
   * have an outcome.
   */
  CompletableFuture<Void> drain() {
    List<Task> unwanted;
    boolean nothingLeft;
    synchronized (this) {
      accepting = false;
      unwanted = List.copyOf(bestEffort);
      bestEffort.clear();
      nothingLeft = isIdle();
    }
    unwanted.forEach(Task::dropped);
    if (nothingLeft) {
      idle.complete(null);
    }
    return idle;
  }

  /** Drops the decisions that were not sent yet. */
  void dropWaiting() {
    List<Task> waiting;
    synchronized (this) {
      waiting = List.copyOf(decisions);
      decisions.clear();
    }
    waiting.forEach(Task::dropped);
  }

  /** Number of writes that wait to be sent. */
  synchronized int waiting() {
    return decisions.size() + bestEffort.size();
  }

  /** Number of writes in flight. */
  synchronized int inFlight() {
    return inFlight + (bestEffortInFlight ? 1 : 0);
  }
}
