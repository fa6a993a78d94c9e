package dev.sluice.engine;

import dev.sluice.model.Decision;
import dev.sluice.model.Explanation;
import dev.sluice.model.WorkloadId;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.FlavorProgress;
import dev.sluice.queue.QueuedWorkload;
import dev.sluice.queue.ClusterQueueCache;
import dev.sluice.scheduling.CycleOutcome;
import dev.sluice.scheduling.InadmissibleIndex;
import dev.sluice.scheduling.preemption.PreemptionTarget;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Carries out what came of a cycle: who holds, who is to be evicted, who waits where and why, and
 * the decisions that others are told.
 */
final class OutcomeApplier {

  private final SpecRegistry specRegistry;
  private final WorkloadTable workloads;
  private final ActiveQueues activeQueues;
  private final InadmissibleIndex inadmissibleIndex;
  private final DirtySet dirtySet;
  private final UnreportedExplanations unreportedExplanations;
  private final EligibilityCheck eligibilityCheck;
  private final PodsReadyGate gate;
  private final Consumer<Decision> decisions;

  OutcomeApplier(
      SpecRegistry specRegistry,
      WorkloadTable workloads,
      ActiveQueues activeQueues,
      InadmissibleIndex inadmissibleIndex,
      DirtySet dirtySet,
      UnreportedExplanations unreportedExplanations,
      EligibilityCheck eligibilityCheck,
      PodsReadyGate gate,
      Consumer<Decision> decisions) {
    this.specRegistry = specRegistry;
    this.workloads = workloads;
    this.activeQueues = activeQueues;
    this.inadmissibleIndex = inadmissibleIndex;
    this.dirtySet = dirtySet;
    this.unreportedExplanations = unreportedExplanations;
    this.eligibilityCheck = eligibilityCheck;
    this.gate = gate;
    this.decisions = decisions;
  }

  /**
   * Carries it out.
   *
   * @param cycle the number of the cycle that decided it
   * @return whether that may change what comes of other heads of the tree in the next cycle
   */
  boolean carryOut(CycleOutcome cycleOutcome, long cycle, Instant now) {
    dirtySet.touched(cycleOutcome.queue().name(), cycleOutcome.item().localQueue());
    if (staysInLine(cycleOutcome)) {
      queueUp(cycleOutcome.queue(), cycleOutcome.item());
    }
    return switch (cycleOutcome) {
      case CycleOutcome.Admitted admitted -> admit(admitted, now);
      case CycleOutcome.Waiting waiting -> preempt(waiting, now);
      case CycleOutcome.Overtaken overtaken -> overtaken(overtaken);
      case CycleOutcome.Gated gated -> gate(gated);
      case CycleOutcome.Walking walking -> {
        activeQueues.add(walking.queue());
        yield true;
      }
      case CycleOutcome.Barred barred -> bar(barred);
      case CycleOutcome.NoFit noFit -> sleep(noFit, cycle);
      case CycleOutcome.Blocked blocked -> {
        gate.shut(blocked.item(), blocked.explanation());
        unreportedExplanations.add(workloads.known(blocked.item()));
        activeQueues.add(blocked.queue());
        yield false;
      }
      case CycleOutcome.LeftOut leftOut -> {
        activeQueues.add(leftOut.queue());
        yield false;
      }
    };
  }

  /** Whether it is in line from now on, although it was looked at while its class was parked. */
  private static boolean staysInLine(CycleOutcome cycleOutcome) {
    return switch (cycleOutcome) {
      case CycleOutcome.Waiting waiting -> true;
      case CycleOutcome.Walking walking -> true;
      case CycleOutcome.Blocked blocked -> true;
      case CycleOutcome.LeftOut leftOut -> true;
      case CycleOutcome.Overtaken overtaken -> true;
      case CycleOutcome.Admitted admitted -> false;
      case CycleOutcome.NoFit noFit -> false;
      case CycleOutcome.Barred barred -> false;
      case CycleOutcome.Gated gated -> false;
    };
  }

  private static void queueUp(ClusterQueueCache queue, QueuedWorkload item) {
    if (item.equivalenceClass().parkedWhy() != null) {
      queue.pending().wake(item.equivalenceClass());
    }
  }

  private boolean overtaken(CycleOutcome.Overtaken overtaken) {
    QueuedWorkload item = overtaken.item();
    if (!overtaken.repeats()) {
      activeQueues.add(overtaken.queue());
      return true;
    }
    FlavorProgress progress = item.flavorProgress();
    item.flavorProgress(progress == null ? null : progress.resting());
    stand(overtaken.queue(), item, overtaken.explanation());
    return false;
  }

  private void stand(ClusterQueueCache queue, QueuedWorkload item, Explanation why) {
    activeQueues.stand(queue, item, why);
    unreportedExplanations.add(workloads.known(item));
  }

  private boolean preempt(CycleOutcome.Waiting waiting, Instant now) {
    QueuedWorkload item = waiting.item();
    ClusterQueueCache queue = waiting.queue();
    List<Decision.Victim> victims = new ArrayList<>();
    for (PreemptionTarget preemptionTarget : waiting.preemptionTargets()) {
      if (!preemptionTarget.quotaHolder().evicted()) {
        WorkloadId id = preemptionTarget.quotaHolder().id();
        victims.add(
            new Decision.Victim(
                id,
                workloads.evict(id),
                preemptionTarget.queue().node().path(),
                preemptionTarget.quotaHolder().priority(),
                preemptionTarget.reason()));
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
    return !victims.isEmpty() || activeQueues.changedSince(queue.node(), waiting.began());
  }

  /**
   * The head of a StrictFIFO queue goes on to be one; anybody else steps aside until quota is given
   * back, or its gates change.
   */
  private boolean gate(CycleOutcome.Gated gated) {
    QueuedWorkload item = gated.item();
    ClusterQueueCache queue = gated.queue();
    if (queue.isStrict()) {
      stand(queue, item, gated.explanation());
      return activeQueues.changedSince(queue.node(), gated.began());
    }
    queue.pending().setAside(item, gated.explanation());
    inadmissibleIndex.gated(queue, item);
    unreportedExplanations.add(workloads.known(item));
    activeQueues.add(queue);
    return true;
  }

  /**
   * A namespace out of order bars the Workload alone; any other trouble blocks a StrictFIFO queue.
   */
  private boolean bar(CycleOutcome.Barred barred) {
    QueuedWorkload item = barred.item();
    ClusterQueueCache queue = barred.queue();
    unreportedExplanations.add(workloads.known(item));
    if (eligibilityCheck.block(item, queue)) {
      activeQueues.block(queue, item, barred.explanation());
      return false;
    }
    queue.pending().setAside(item, barred.explanation());
    activeQueues.add(queue);
    return true;
  }

  private boolean admit(CycleOutcome.Admitted admitted, Instant now) {
    QueuedWorkload item = admitted.item();
    ClusterQueueCache queue = admitted.queue();
    Reservation reservation =
        Reservation.decided(
            item, queue.name(), admitted.assignment().podSets(), now, specRegistry.pairs);
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
    activeQueues.add(queue);
    return true;
  }

  private boolean sleep(CycleOutcome.NoFit noFit, long cycle) {
    QueuedWorkload item = noFit.item();
    ClusterQueueCache queue = noFit.queue();
    EquivalenceClass equals = item.equivalenceClass();
    InadmissibleIndex.Sleeper sleeper = new InadmissibleIndex.Sleeper(queue, equals);
    if (queue.isStrict()) {
      equals.lacks(noFit.lacks());
      if (noFit.searched()) {
        item.flavorProgress(FlavorProgress.inVain(queue, cycle));
      }
      if (noFit.reserving() || noFit.competing() || noFit.preempts()) {
        stand(queue, item, noFit.explanation());
      } else {
        activeQueues.block(queue, item, noFit.explanation());
        unreportedExplanations.add(workloads.known(item));
        inadmissibleIndex.sleep(sleeper, noFit.lacks(), noFit.competing(), noFit.preempts());
      }
      return false;
    }
    queue.pending().park(equals, noFit.explanation(), noFit.lacks());
    for (QueuedWorkload member : equals.takeUntold()) {
      unreportedExplanations.add(workloads.known(member));
    }
    activeQueues.add(queue);
    inadmissibleIndex.sleep(sleeper, noFit.lacks(), noFit.competing(), noFit.preempts());
    return true;
  }
}
