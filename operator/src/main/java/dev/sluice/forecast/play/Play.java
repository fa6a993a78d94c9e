package dev.sluice.forecast.play;

import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
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

  /**
   * So often in a row the time of one of the engine's timers comes and nothing follows from it:
   * then no other timer is waited for until something else happens. More than two fortnights have
   * hours, or all occurrences of ten reservations. After so many in all, Workloads of queues that
   * pause after attempts in vain are tried again only when nothing else is left to happen.
   */
  private static final int MOST_IN_VAIN = 1_000;

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
    int inVain = 0;
    int allInVain = 0;
    while (!enough.getAsBoolean()) {
      TimedAction next = actions.peek();
      Instant timer =
          live.isEmpty() || inVain == MOST_IN_VAIN
              ? Instant.MAX
              : scheduler.nextTimer(next == null || allInVain < MOST_IN_VAIN);
      Instant at = next == null || timer.isBefore(next.at) ? timer : next.at;
      if (at.equals(Instant.MAX) || at.isAfter(horizon)) {
        return;
      }
      now = at;
      scheduler.apply(new SchedulerEvent.TimePassed(now));
      boolean acts = false;
      while (next != null && next.at.equals(now)) {
        actions.remove();
        next.action.run();
        acts = true;
        next = actions.peek();
      }
      boolean changes = decide() || acts;
      inVain = changes ? 0 : inVain + 1;
      allInVain += changes ? 0 : 1;
    }
  }

  private void act(Instant at, Runnable action) {
    actions.add(new TimedAction(at.isBefore(now) ? now : at, number++, action));
  }

  private void wakeAfterBackoff(PendingWorkload workload) {
    workload.notBefore().ifPresent(end -> act(end, () -> {}));
  }

  /** Decides until nothing is left to decide, and carries it out; whether anything was. */
  private boolean decide() {
    boolean any = false;
    boolean decided = true;
    while (decided) {
      scheduler.decide();
      decided = !decisions.isEmpty();
      any |= decided;
      List<Decision> made = List.copyOf(decisions);
      decisions.clear();
      made.forEach(this::carryOut);
    }
    for (ReservedCapacity.Overstay each : scheduler.overstays()) {
      any |= !each.from().isAfter(now) && stop(each.id(), ReservedCapacity.REASON);
    }
    return any;
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> admit(admit);
      case Decision.Preempt preempt ->
          preempt.targets().forEach(target -> stop(target.id(), target.reason().apiReason()));
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

  /** The pods of a Workload that runs begin to stop; false if it doesn't run. */
  private boolean stop(WorkloadId id, String reason) {
    Played played = live.get(id);
    if (played == null || !played.running) {
      return false;
    }
    played.running = false;
    played.stopping = true;
    int turn = ++played.turn;
    listener.preempted(id, reason, now);
    act(
        now.plus(stopping),
        () -> {
          if (played.turn == turn) {
            stopped(played);
          }
        });
    return true;
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

  /** Told what happens in a play, in order. */
  public interface PlayListener {

    /** A Workload has arrived, and nothing was decided since. */
    default void arrived(WorkloadId id, Instant at) {}

    /**
     * A Workload was admitted, and runs.
     *
     * @param run how often it was admitted in this play, from 1 on
     */
    default void started(Decision.Admit admission, int run) {}

    /** A Workload has ended. */
    default void ended(WorkloadId id, Instant at) {}

    /**
     * A Workload that runs was preempted, or evicted for capacity that is kept for others; it is
     * pending again when its pods have stopped.
     *
     * @param reason the reason as the API spells it
     */
    default void preempted(WorkloadId id, String reason, Instant at) {}

    /** A Workload was taken away while it waited, or whatever it did. */
    default void left(WorkloadId id, Instant at) {}

    /** The quota of a Workload is free, if it had any: it has ended, or its pods have stopped. */
    default void released(WorkloadId id, Instant at) {}
  }
}
