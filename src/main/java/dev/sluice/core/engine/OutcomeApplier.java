package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.InadmissibleIndex;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
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
  boolean apply(CycleOutcome cycleOutcome, long cycle, Instant now) {
    dirtySet.touched(cycleOutcome.queue().name(), cycleOutcome.item().localQueue());
    if (staysActive(cycleOutcome)) {
      enqueue(cycleOutcome.queue(), cycleOutcome.item());
    }
    return switch (cycleOutcome) {
      case CycleOutcome.Admitted admitted -> admit(admitted, now);
      case CycleOutcome.PendingPreemption pendingPreemption -> preempt(pendingPreemption, now);
      case CycleOutcome.Skipped skipped -> overtaken(skipped);
      case CycleOutcome.PreemptionGated preemptionGated -> gate(preemptionGated);
      case CycleOutcome.TryNextFlavor tryNextFlavor -> {
        activeQueues.add(tryNextFlavor.queue());
        yield true;
      }
      case CycleOutcome.Ineligible ineligible -> markIneligible(ineligible);
      case CycleOutcome.NoFit noFit -> markInadmissible(noFit, cycle);
      case CycleOutcome.WaitingForPodsReady waitingForPodsReady -> {
        gate.close(waitingForPodsReady.item(), waitingForPodsReady.explanation());
        unreportedExplanations.add(workloads.known(waitingForPodsReady.item()));
        activeQueues.add(waitingForPodsReady.queue());
        yield false;
      }
      case CycleOutcome.NotProcessed notProcessed -> {
        activeQueues.add(notProcessed.queue());
        yield false;
      }
    };
  }

  /** Whether it is in line from now on, although it was looked at while its class was parked. */
  private static boolean staysActive(CycleOutcome cycleOutcome) {
    return switch (cycleOutcome) {
      case CycleOutcome.PendingPreemption pendingPreemption -> true;
      case CycleOutcome.TryNextFlavor tryNextFlavor -> true;
      case CycleOutcome.WaitingForPodsReady waitingForPodsReady -> true;
      case CycleOutcome.NotProcessed notProcessed -> true;
      case CycleOutcome.Skipped skipped -> true;
      case CycleOutcome.Admitted admitted -> false;
      case CycleOutcome.NoFit noFit -> false;
      case CycleOutcome.Ineligible ineligible -> false;
      case CycleOutcome.PreemptionGated preemptionGated -> false;
    };
  }

  private static void enqueue(ClusterQueueCache queue, QueuedWorkload item) {
    if (item.equivalenceClass().explanation() != null) {
      queue.pending().requeue(item.equivalenceClass());
    }
  }

  private boolean overtaken(CycleOutcome.Skipped skipped) {
    QueuedWorkload item = skipped.item();
    if (!skipped.repeats()) {
      activeQueues.add(skipped.queue());
      return true;
    }
    FlavorProgress progress = item.flavorProgress();
    item.flavorProgress(progress == null ? null : progress.atRest());
    holdClaim(skipped.queue(), item, skipped.explanation());
    return false;
  }

  private void holdClaim(ClusterQueueCache queue, QueuedWorkload item, Explanation why) {
    activeQueues.holdClaim(queue, item, why);
    unreportedExplanations.add(workloads.known(item));
  }

  private boolean preempt(CycleOutcome.PendingPreemption pendingPreemption, Instant now) {
    QueuedWorkload item = pendingPreemption.item();
    ClusterQueueCache queue = pendingPreemption.queue();
    List<Decision.Victim> victims = new ArrayList<>();
    for (PreemptionTarget preemptionTarget : pendingPreemption.preemptionTargets()) {
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
      queue.pending().markSticky(item);
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
    holdClaim(queue, item, pendingPreemption.explanation());
    // A search that began before the last change is made anew, from the first flavor.
    return !victims.isEmpty() || activeQueues.changedSince(queue.node(), pendingPreemption.began());
  }

  /**
   * The head of a StrictFIFO queue goes on to be one; anybody else steps aside until quota is given
   * back, or its gates change.
   */
  private boolean gate(CycleOutcome.PreemptionGated preemptionGated) {
    QueuedWorkload item = preemptionGated.item();
    ClusterQueueCache queue = preemptionGated.queue();
    if (queue.isStrict()) {
      holdClaim(queue, item, preemptionGated.explanation());
      return activeQueues.changedSince(queue.node(), preemptionGated.began());
    }
    queue.pending().hold(item, preemptionGated.explanation());
    inadmissibleIndex.gated(queue, item);
    unreportedExplanations.add(workloads.known(item));
    activeQueues.add(queue);
    return true;
  }

  /**
   * A namespace out of order bars the Workload alone; any other trouble blocks a StrictFIFO queue.
   */
  private boolean markIneligible(CycleOutcome.Ineligible ineligible) {
    QueuedWorkload item = ineligible.item();
    ClusterQueueCache queue = ineligible.queue();
    unreportedExplanations.add(workloads.known(item));
    if (eligibilityCheck.ineligibility(item, queue)) {
      activeQueues.block(queue, item, ineligible.explanation());
      return false;
    }
    queue.pending().hold(item, ineligible.explanation());
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

  private boolean markInadmissible(CycleOutcome.NoFit noFit, long cycle) {
    QueuedWorkload item = noFit.item();
    ClusterQueueCache queue = noFit.queue();
    EquivalenceClass equals = item.equivalenceClass();
    InadmissibleIndex.InadmissibleQueue inadmissibleQueue =
        new InadmissibleIndex.InadmissibleQueue(queue, equals);
    if (queue.isStrict()) {
      equals.missingQuota(noFit.lacks());
      if (noFit.searched()) {
        item.flavorProgress(FlavorProgress.withoutSuccess(queue, cycle));
      }
      if (noFit.reserving() || noFit.competing() || noFit.preempts()) {
        holdClaim(queue, item, noFit.explanation());
      } else {
        activeQueues.block(queue, item, noFit.explanation());
        unreportedExplanations.add(workloads.known(item));
        inadmissibleIndex.add(
            inadmissibleQueue, noFit.lacks(), noFit.competing(), noFit.preempts());
      }
      return false;
    }
    queue.pending().markInadmissible(equals, noFit.explanation(), noFit.lacks());
    for (QueuedWorkload member : equals.drainUnreported()) {
      unreportedExplanations.add(workloads.known(member));
    }
    activeQueues.add(queue);
    inadmissibleIndex.add(inadmissibleQueue, noFit.lacks(), noFit.competing(), noFit.preempts());
    return true;
  }
}
