package dev.sluice.workload;

import dev.sluice.workload.WorkloadWriter.Urgency;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Lets writes go to the API server: decisions in their order, a given number at a time; advice one
 * at a time, while no decision waits, and beside decisions in flight once a second only.
 */
final class PriorityWriteQueue {

  private static final Duration ADVICE_BESIDE_DECISIONS = Duration.ofSeconds(1);

  private final int most;
  private final InstantSource clock;
  private final Deque<Task> decisions = new ArrayDeque<>();
  private final Deque<Task> advice = new ArrayDeque<>();
  private final CompletableFuture<Void> idle = new CompletableFuture<>();
  private int inFlight;
  private boolean adviceInFlight;
  private Instant lastAdvice = Instant.EPOCH;
  private boolean accepting = true;

  /** A write. */
  interface Task {
    /** Sends it; calls {@code done} once, when it needs its place no more. */
    void start(Runnable done);

    /** It will never be sent. */
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
        (urgency == Urgency.DECISION ? decisions : advice).add(task);
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
        Task task = advice.remove();
        adviceInFlight = true;
        lastAdvice = clock.instant();
        starts.add(() -> task.start(this::bestEffortCompleted));
      }
    }
    starts.forEach(Runnable::run);
  }

  private boolean mayStartBestEffort() {
    return !advice.isEmpty()
        && !adviceInFlight
        && decisions.isEmpty()
        && (inFlight == 0 || !lastAdvice.plus(ADVICE_BESIDE_DECISIONS).isAfter(clock.instant()));
  }

  private void decisionCompleted() {
    synchronized (this) {
      inFlight--;
    }
    done();
  }

  private void bestEffortCompleted() {
    synchronized (this) {
      adviceInFlight = false;
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
    return inFlight == 0 && !adviceInFlight && decisions.isEmpty();
  }

  /** Takes no more; completes when all decisions taken before have been sent and answered. */
  CompletableFuture<Void> drain() {
    List<Task> unwanted;
    boolean nothingLeft;
    synchronized (this) {
      accepting = false;
      unwanted = List.copyOf(advice);
      advice.clear();
      nothingLeft = isIdle();
    }
    unwanted.forEach(Task::dropped);
    if (nothingLeft) {
      idle.complete(null);
    }
    return idle;
  }

  /** Drops what has not been sent yet. */
  void dropWaiting() {
    List<Task> waiting;
    synchronized (this) {
      waiting = List.copyOf(decisions);
      decisions.clear();
    }
    waiting.forEach(Task::dropped);
  }

  /** Writes that wait to be sent. */
  synchronized int waiting() {
    return decisions.size() + advice.size();
  }

  /** Writes under way. */
  synchronized int inFlight() {
    return inFlight + (adviceInFlight ? 1 : 0);
  }
}
