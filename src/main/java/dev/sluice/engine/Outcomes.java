package dev.sluice.engine;

import dev.sluice.model.Decision;
import dev.sluice.model.Explanation;
import dev.sluice.model.WorkloadId;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.FlavorProgress;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.scheduling.Outcome;
import dev.sluice.scheduling.Sleepers;
import dev.sluice.scheduling.preemption.Victim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Carries out what came of a cycle: who holds, who is to be evicted, who waits where and why, and
 * the decisions that others are told.
 */
final class Outcomes {

  private final Registry registry;
  private final WorkloadTable workloads;
  private final Ready ready;
  private final Sleepers sleepers;
  private final Changes changes;
  private final Untold untold;
  private final Bars bars;
  private final ReadinessGate gate;
  private final Consumer<Decision> decisions;

  Outcomes(
      Registry registry,
      WorkloadTable workloads,
      Ready ready,
      Sleepers sleepers,
      Changes changes,
      Untold untold,
      Bars bars,
      ReadinessGate gate,
      Consumer<Decision> decisions) {
    this.registry = registry;
    this.workloads = workloads;
    this.ready = ready;
    this.sleepers = sleepers;
    this.changes = changes;
    this.untold = untold;
    this.bars = bars;
    this.gate = gate;
    this.decisions = decisions;
  }

  /**
   * Carries it out.
   *
   * @param cycle the number of the cycle that decided it
   * @return whether that may change what comes of other heads of the tree in the next cycle
   */
  boolean carryOut(Outcome outcome, long cycle, Instant now) {
    changes.touched(outcome.queue().name(), outcome.item().localQueue());
    if (staysInLine(outcome)) {
      queueUp(outcome.queue(), outcome.item());
    }
    return switch (outcome) {
      case Outcome.Admitted admitted -> admit(admitted, now);
      case Outcome.Waiting waiting -> preempt(waiting, now);
      case Outcome.Overtaken overtaken -> overtaken(overtaken);
      case Outcome.Gated gated -> gate(gated);
      case Outcome.Walking walking -> {
        ready.add(walking.queue());
        yield true;
      }
      case Outcome.Barred barred -> bar(barred);
      case Outcome.NoFit noFit -> sleep(noFit, cycle);
      case Outcome.Blocked blocked -> {
        gate.shut(blocked.item(), blocked.explanation());
        untold.add(workloads.known(blocked.item()));
        ready.add(blocked.queue());
        yield false;
      }
      case Outcome.LeftOut leftOut -> {
        ready.add(leftOut.queue());
        yield false;
      }
    };
  }

  /** Whether it is in line from now on, although it was looked at while its class was parked. */
  private static boolean staysInLine(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Waiting waiting -> true;
      case Outcome.Walking walking -> true;
      case Outcome.Blocked blocked -> true;
      case Outcome.LeftOut leftOut -> true;
      case Outcome.Overtaken overtaken -> true;
      case Outcome.Admitted admitted -> false;
      case Outcome.NoFit noFit -> false;
      case Outcome.Barred barred -> false;
      case Outcome.Gated gated -> false;
    };
  }

  private static void queueUp(QueueState queue, PendingItem item) {
    if (item.equivalenceClass().parkedWhy() != null) {
      queue.pending().wake(item.equivalenceClass());
    }
  }

  private boolean overtaken(Outcome.Overtaken overtaken) {
    PendingItem item = overtaken.item();
    if (!overtaken.repeats()) {
      ready.add(overtaken.queue());
      return true;
    }
    FlavorProgress progress = item.flavorProgress();
    item.flavorProgress(progress == null ? null : progress.resting());
    stand(overtaken.queue(), item, overtaken.explanation());
    return false;
  }

  private void stand(QueueState queue, PendingItem item, Explanation why) {
    ready.stand(queue, item, why);
    untold.add(workloads.known(item));
  }

  private boolean preempt(Outcome.Waiting waiting, Instant now) {
    PendingItem item = waiting.item();
    QueueState queue = waiting.queue();
    List<Decision.Victim> victims = new ArrayList<>();
    for (Victim victim : waiting.victims()) {
      if (!victim.holder().evicted()) {
        WorkloadId id = victim.holder().id();
        victims.add(
            new Decision.Victim(
                id,
                workloads.evict(id),
                victim.queue().node().path(),
                victim.holder().priority(),
                victim.reason()));
      }
    }
    if (!victims.isEmpty()) {
      queue.pending().stick(item);
      decisions.accept(
          new Decision.Preempt(
              item.id(),
              item.version(),
              queue.name(),
              queue.node().path(),
              item.equivalenceClass().priority(),
              victims,
              now));
    }
    stand(queue, item, waiting.explanation());
    // A search that began before the last change is made anew, from the first flavor.
    return !victims.isEmpty() || ready.changedSince(queue.node(), waiting.began());
  }

  /**
   * The head of a StrictFIFO queue goes on to be one; anybody else steps aside until quota is given
   * back, or its gates change.
   */
  private boolean gate(Outcome.Gated gated) {
    PendingItem item = gated.item();
    QueueState queue = gated.queue();
    if (queue.isStrict()) {
      stand(queue, item, gated.explanation());
      return ready.changedSince(queue.node(), gated.began());
    }
    queue.pending().setAside(item, gated.explanation());
    sleepers.gated(queue, item);
    untold.add(workloads.known(item));
    ready.add(queue);
    return true;
  }

  /**
   * A namespace out of order bars the Workload alone; any other trouble blocks a StrictFIFO queue.
   */
  private boolean bar(Outcome.Barred barred) {
    PendingItem item = barred.item();
    QueueState queue = barred.queue();
    untold.add(workloads.known(item));
    if (bars.block(item, queue)) {
      ready.block(queue, item, barred.explanation());
      return false;
    }
    queue.pending().setAside(item, barred.explanation());
    ready.add(queue);
    return true;
  }

  private boolean admit(Outcome.Admitted admitted, Instant now) {
    PendingItem item = admitted.item();
    QueueState queue = admitted.queue();
    Reservation reservation =
        Reservation.decided(
            item, queue.name(), admitted.assignment().podSets(), now, registry.pairs);
    workloads.assume(item, reservation);
    decisions.accept(
        new Decision.Admit(
            item.id(),
            item.version(),
            queue.name(),
            admitted.assignment().podSets(),
            now,
            item.queuedAt(),
            admitted.assignment().attempts()));
    ready.add(queue);
    return true;
  }

  private boolean sleep(Outcome.NoFit noFit, long cycle) {
    PendingItem item = noFit.item();
    QueueState queue = noFit.queue();
    EquivalenceClass equals = item.equivalenceClass();
    Sleepers.Sleeper sleeper = new Sleepers.Sleeper(queue, equals);
    if (queue.isStrict()) {
      equals.lacks(noFit.lacks());
      if (noFit.searched()) {
        item.flavorProgress(FlavorProgress.inVain(queue, cycle));
      }
      if (noFit.reserving() || noFit.competing() || noFit.preempts()) {
        stand(queue, item, noFit.explanation());
      } else {
        ready.block(queue, item, noFit.explanation());
        untold.add(workloads.known(item));
        sleepers.sleep(sleeper, noFit.lacks(), noFit.competing(), noFit.preempts());
      }
      return false;
    }
    queue.pending().park(equals, noFit.explanation(), noFit.lacks());
    for (PendingItem member : equals.takeUntold()) {
      untold.add(workloads.known(member));
    }
    ready.add(queue);
    sleepers.sleep(sleeper, noFit.lacks(), noFit.competing(), noFit.preempts());
    return true;
  }
}
