package dev.sluice.forecast.play;

import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine played forward in simulated time. The engine decides as it does in operation; runs last
 * as {@link RunTimes} says, decisions are carried out at once, and preempted Workloads are pending
 * again when their pods have stopped. Not thread-safe. The same input leads to the same play.
 */
public final class Play {

  /** How long runs last. */
  @FunctionalInterface
  public interface RunTimes {

    /**
     * How long the run of a Workload that starts now lasts; empty if it never ends.
     *
     * @param run how often it was admitted in this play, from 1 on
     */
    Optional<Duration> lasts(WorkloadId id, int run);
  }

  private record TimedAction(Instant at, long number, Runnable action)
      implements Comparable<TimedAction> {
    @Override
    public int compareTo(TimedAction other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  /** A Workload of the play that has not ended. */
  private static final class Played {
    private final WorkloadId id;

    /** What is queued when it is preempted; null if nobody knows. */
    private @Nullable PendingWorkload pending;

    private boolean running;

    /** Whether it was preempted, and its pods haven't stopped. */
    private boolean stopping;

    private int runs;

    /** Counts starts and stops: an action of an earlier run has no effect. */
    private int turn;

    private Played(WorkloadId id, @Nullable PendingWorkload pending) {
      this.id = id;
      this.pending = pending;
    }

    private boolean waits() {
      return !running && !stopping;
    }
  }

  private final InlineScheduler scheduler;
  private final List<Decision> decisions;
  private final RunTimes runTimes;
  private final Duration stopping;
  private final PlayListener listener;
  private final Map<WorkloadId, Played> live = new HashMap<>();
  private final PriorityQueue<TimedAction> actions = new PriorityQueue<>();
  private Instant now;
  private long version;
  private long number;

  /**
   * A play that has not begun.
   *
   * @param source the engine, and where its decisions arrive
   * @param begin the time at which the play begins
   * @param version a resourceVersion that no Workload of the engine has reached
   * @param runTimes how long runs last
   * @param stopping how long the pods of a preempted Workload take to stop
   */
  public Play(
      Source source,
      Instant begin,
      long version,
      RunTimes runTimes,
      Duration stopping,
      PlayListener listener) {
    this.scheduler = source.scheduler();
    this.decisions = source.decisions();
    this.now = begin;
    this.version = version;
    this.runTimes = runTimes;
    this.stopping = stopping;
    this.listener = listener;
  }

  /**
   * An engine to play with.
   *
   * @param scheduler the engine; nobody else uses it from now on
   * @param decisions where its decisions arrive, in order
   */
  public record Source(InlineScheduler scheduler, List<Decision> decisions) {}

  /** The time of the play. */
  public Instant now() {
    return now;
  }

  /** The number of Workloads that were told or arrived, and haven't ended. */
  public int live() {
    return live.size();
  }

  /** Tells of a Workload that the engine has as pending. */
  public void knownPending(PendingWorkload workload) {
    live.put(workload.id(), new Played(workload.id(), workload));
    wakeAfterBackoff(workload);
  }

  /**
   * Tells of a Workload that has quota in the engine.
   *
   * @param again what is queued when it is preempted; if that is unknown, it isn't queued again
   * @param rest how much longer it runs; empty if it never ends
   */
  public void knownRunning(
      WorkloadId id, Optional<PendingWorkload> again, Optional<Duration> rest) {
    Played played = new Played(id, again.orElse(null));
    played.running = true;
    live.put(id, played);
    rest.ifPresent(left -> endAfter(played, left));
  }

  /**
   * Tells of a Workload that has quota in the engine and is being evicted.
   *
   * @param again what is queued when its pods have stopped; if that is unknown, it isn't queued
   *     again
   * @param rest how long that takes; empty if they never stop
   */
  public void knownStopping(
      WorkloadId id, Optional<PendingWorkload> again, Optional<Duration> rest) {
    Played played = new Played(id, again.orElse(null));
    played.stopping = true;
    live.put(id, played);
    rest.ifPresent(left -> act(now.plus(left), () -> stopped(played)));
  }

  /**
   * An event beside those of Workloads happens at a time that is not past.
   *
   * @param told called with the time, when the engine has been told
   */
  public void happens(Instant at, SchedulerEvent schedulerEvent, Consumer<Instant> told) {
    act(
        at,
        () -> {
          scheduler.apply(schedulerEvent);
          told.accept(now);
        });
  }

  /** A Workload changes at a time: it is queued so, if it waits then or waits again later. */
  public void changes(Instant at, PendingWorkload workload) {
    act(
        at,
        () -> {
          Played played = live.get(workload.id());
          if (played == null) {
            return;
          }
          if (played.waits()) {
            PendingWorkload changedWorkload = workload.requeued(version++, since(played, workload));
            played.pending = changedWorkload;
            scheduler.apply(new SchedulerEvent.WorkloadPending(changedWorkload));
            wakeAfterBackoff(changedWorkload);
          } else {
            played.pending = workload;
          }
        });
  }

  private static Instant since(Played played, PendingWorkload workload) {
    return played.pending == null ? workload.queuedAt() : played.pending.queuedAt();
  }

  /**
   * A Workload leaves at a time, if it waits then.
   *
   * @param always whether it leaves also if it runs
   */
  public void leaves(Instant at, WorkloadId id, boolean always) {
    act(
        at,
        () -> {
          Played played = live.get(id);
          if (played != null && (always || played.waits())) {
            played.turn++;
            release(played);
            listener.left(id, now);
          }
        });
  }

  private void release(Played played) {
    live.remove(played.id);
    scheduler.apply(new SchedulerEvent.WorkloadReleased(played.id, version++));
    listener.released(played.id, now);
  }

  /** A Workload arrives at a time that is not past: it is told to the engine then. */
  public void arrives(Instant at, PendingWorkload workload) {
    arrives(at, workload, () -> true);
  }

  /**
   * A Workload arrives at a time that is not past, unless it is there.
   *
   * @param still asked then: whether it arrives at all
   */
  public void arrives(Instant at, PendingWorkload workload, BooleanSupplier still) {
    act(
        at,
        () -> {
          if (live.containsKey(workload.id()) || !still.getAsBoolean()) {
            return;
          }
          PendingWorkload arrived = workload.requeued(version++, workload.queuedAt());
          live.put(arrived.id(), new Played(arrived.id(), arrived));
          scheduler.apply(new SchedulerEvent.WorkloadPending(arrived));
          wakeAfterBackoff(arrived);
          listener.arrived(arrived.id(), now);
        });
  }

  /**
   * Plays until nothing is left to happen, the horizon is reached, or the caller has seen enough.
   *
   * @param horizon the time beyond which nothing is played
   * @param enough asked after each instant at which something happened
   */
  public void run(Instant horizon, BooleanSupplier enough) {
    scheduler.apply(new SchedulerEvent.TimePassed(now));
    decide();
    while (!enough.getAsBoolean()) {
      TimedAction next = actions.peek();
      if (next == null || next.at.isAfter(horizon)) {
        return;
      }
      now = next.at;
      scheduler.apply(new SchedulerEvent.TimePassed(now));
      while (next != null && next.at.equals(now)) {
        actions.remove();
        next.action.run();
        next = actions.peek();
      }
      decide();
    }
  }

  private void act(Instant at, Runnable action) {
    actions.add(new TimedAction(at.isBefore(now) ? now : at, number++, action));
  }

  private void wakeAfterBackoff(PendingWorkload workload) {
    workload.notBefore().ifPresent(end -> act(end, () -> {}));
  }

  private void decide() {
    boolean decided = true;
    while (decided) {
      scheduler.decide();
      decided = !decisions.isEmpty();
      List<Decision> made = List.copyOf(decisions);
      decisions.clear();
      made.forEach(this::carryOut);
    }
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> admit(admit);
      case Decision.Preempt preempt -> preempt.targets().forEach(this::preempt);
      case PlacementDecision _ -> {}
    }
  }

  private void admit(Decision.Admit admit) {
    Played played = live.get(admit.id());
    if (played == null) {
      return;
    }
    played.running = true;
    played.turn++;
    int run = ++played.runs;
    scheduler.apply(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
    listener.started(admit, run);
    runTimes.lasts(admit.id(), run).ifPresent(lasts -> endAfter(played, lasts));
  }

  private void endAfter(Played played, Duration rest) {
    int turn = played.turn;
    act(
        now.plus(rest.isNegative() ? Duration.ZERO : rest),
        () -> {
          if (played.turn == turn) {
            played.turn++;
            release(played);
            listener.ended(played.id, now);
          }
        });
  }

  private void preempt(Decision.Target target) {
    Played played = live.get(target.id());
    if (played == null || !played.running) {
      return;
    }
    played.running = false;
    played.stopping = true;
    int turn = ++played.turn;
    listener.preempted(target.id(), target.reason(), now);
    act(
        now.plus(stopping),
        () -> {
          if (played.turn == turn) {
            stopped(played);
          }
        });
  }

  /** The quota of a preempted Workload is free from now on. */
  private void stopped(Played played) {
    PendingWorkload known = played.pending;
    if (known == null) {
      release(played);
      return;
    }
    PendingWorkload again = known.requeued(version++, now);
    played.pending = again;
    played.stopping = false;
    scheduler.apply(new SchedulerEvent.WorkloadPending(again));
    listener.released(played.id, now);
  }
}
