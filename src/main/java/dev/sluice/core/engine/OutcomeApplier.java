package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PodSetAssignment;
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
 * Applies the outcomes of a cycle: reserves quota, marks targets as evicted, requeues or holds
 * Workloads with their explanations, and emits decisions.
 */
final class OutcomeApplier {

  private final SpecRegistry specRegistry;
  private final WorkloadTable workloads;
  private final ActiveQueues activeQueues;
  private final InadmissibleIndex inadmissibleIndex;
  private final AttemptPauses attemptPauses;
  private final DirtySet dirtySet;
  private final UnreportedExplanations unreportedExplanations;
  private final EligibilityCheck eligibilityCheck;
  private final PodsReadyGate podsReadyGate;
  private final boolean tournaments;
  private final Consumer<Decision> decisions;

  /**
   * Creates it.
   *
   * @param tournaments whether the heads of a cohort are ordered by a tournament over shares
   */
  OutcomeApplier(
      SpecRegistry specRegistry,
      WorkloadTable workloads,
      ActiveQueues activeQueues,
      InadmissibleIndex inadmissibleIndex,
      AttemptPauses attemptPauses,
      DirtySet dirtySet,
      UnreportedExplanations unreportedExplanations,
      EligibilityCheck eligibilityCheck,
      PodsReadyGate podsReadyGate,
      boolean tournaments,
      Consumer<Decision> decisions) {
    this.specRegistry = specRegistry;
    this.workloads = workloads;
    this.activeQueues = activeQueues;
    this.inadmissibleIndex = inadmissibleIndex;
    this.attemptPauses = attemptPauses;
    this.dirtySet = dirtySet;
    this.unreportedExplanations = unreportedExplanations;
    this.eligibilityCheck = eligibilityCheck;
    this.podsReadyGate = podsReadyGate;
    this.tournaments = tournaments;
    this.decisions = decisions;
  }

  /**
   * Applies one outcome.
   *
   * @param cycle the number of the cycle
   * @return whether the next cycle may decide differently on other heads of the tree
   */
  boolean apply(CycleOutcome cycleOutcome, long cycle, Instant now) {
    dirtySet.touched(cycleOutcome.queue().name(), cycleOutcome.item().localQueue());
    if (endsRound(cycleOutcome)) {
      activeQueues.notSkipped(cycleOutcome.queue());
    }
    if (staysActive(cycleOutcome)) {
      enqueue(cycleOutcome.queue(), cycleOutcome.item());
    }
    return switch (cycleOutcome) {
      case CycleOutcome.Admitted admitted -> admit(admitted, now);
      case CycleOutcome.PendingPreemption pendingPreemption -> preempt(pendingPreemption, now);
      case CycleOutcome.Skipped skipped -> skip(skipped);
      case CycleOutcome.PreemptionGated preemptionGated ->
          preemptionGated.queue().queueing().backsOff()
              ? pause(
                  preemptionGated.item(),
                  preemptionGated.queue(),
                  preemptionGated.explanation(),
                  now)
              : holdGated(preemptionGated);
      case CycleOutcome.TryNextFlavor tryNextFlavor -> {
        activeQueues.add(tryNextFlavor.queue());
        yield true;
      }
      case CycleOutcome.Ineligible ineligible -> markIneligible(ineligible);
      case CycleOutcome.NoFit noFit -> {
        if (noFit.reserving() && !noFit.queue().queueing().headBlocks()) {
          activeQueues.reservationDropped(noFit.queue().node());
        }
        yield noFit.queue().queueing().backsOff()
            ? pause(noFit.item(), noFit.queue(), noFit.explanation(), now)
            : markInadmissible(noFit, cycle);
      }
      case CycleOutcome.WaitingForPodsReady waitingForPodsReady -> {
        podsReadyGate.close(waitingForPodsReady.item(), waitingForPodsReady.explanation());
        unreportedExplanations.add(workloads.entryOf(waitingForPodsReady.item()));
        activeQueues.add(waitingForPodsReady.queue());
        yield false;
      }
      case CycleOutcome.QueueBlocked blocked -> {
        activeQueues.blockByLimit(blocked.queue(), blocked.item(), blocked.explanation());
        unreportedExplanations.add(workloads.entryOf(blocked.item()));
        yield false;
      }
      case CycleOutcome.NotProcessed notProcessed -> {
        activeQueues.add(notProcessed.queue());
        yield false;
      }
    };
  }

  /**
   * Whether the Workload stays active, although its class may have been inadmissible when the cycle
   * evaluated it.
   */
  private static boolean staysActive(CycleOutcome cycleOutcome) {
    return switch (cycleOutcome) {
      case CycleOutcome.PendingPreemption pendingPreemption -> true;
      case CycleOutcome.TryNextFlavor tryNextFlavor -> true;
      case CycleOutcome.WaitingForPodsReady waitingForPodsReady -> true;
      case CycleOutcome.NotProcessed notProcessed -> true;
      case CycleOutcome.QueueBlocked blocked -> true;
      case CycleOutcome.Skipped skipped -> true;
      case CycleOutcome.Admitted admitted -> false;
      case CycleOutcome.NoFit noFit -> false;
      case CycleOutcome.Ineligible ineligible -> false;
      case CycleOutcome.PreemptionGated preemptionGated -> false;
    };
  }

  /** Whether a head that was skipped in the cycles before begins anew with its flavors. */
  private static boolean endsRound(CycleOutcome cycleOutcome) {
    return cycleOutcome instanceof CycleOutcome.PendingPreemption || !staysActive(cycleOutcome);
  }

  private static void enqueue(ClusterQueueCache queue, QueuedWorkload item) {
    if (item.equivalenceClass().explanation() != null) {
      queue.pending().requeue(item.equivalenceClass());
    }
  }

  private boolean skip(CycleOutcome.Skipped skipped) {
    QueuedWorkload item = skipped.item();
    if (skipped.repeats()) {
      FlavorProgress progress = item.flavorProgress();
      item.flavorProgress(progress == null ? null : progress.untilQuotaChanges());
    } else if (activeQueues.skippedAgain(skipped.queue(), item, skipped.resumes())) {
      item.flavorProgress(skipped.before());
    } else {
      activeQueues.add(skipped.queue());
      return true;
    }
    holdClaim(skipped.queue(), item, skipped.explanation());
    return false;
  }

  private void holdClaim(ClusterQueueCache queue, QueuedWorkload item, Explanation explanation) {
    activeQueues.holdClaim(queue, item, explanation);
    unreportedExplanations.add(workloads.entryOf(item));
  }

  private boolean preempt(CycleOutcome.PendingPreemption pendingPreemption, Instant now) {
    QueuedWorkload item = pendingPreemption.item();
    ClusterQueueCache queue = pendingPreemption.queue();
    List<Decision.Target> targets = new ArrayList<>();
    for (PreemptionTarget preemptionTarget : pendingPreemption.preemptionTargets()) {
      if (!preemptionTarget.quotaHolder().evicted()) {
        WorkloadId id = preemptionTarget.quotaHolder().id();
        targets.add(
            new Decision.Target(
                id,
                workloads.evict(id),
                preemptionTarget.queue().node().path(),
                preemptionTarget.quotaHolder().priority(),
                preemptionTarget.reason()));
      }
    }
    if (!targets.isEmpty()) {
      queue.pending().markSticky(item);
      decisions.accept(
          new Decision.Preempt(
              item.id(),
              item.version(),
              queue.name(),
              queue.node().path(),
              item.equivalenceClass().priority(),
              targets,
              now));
    }
    holdClaim(queue, item, pendingPreemption.explanation());
    // A flavor search that began before the last change of reservations, or before one was dropped,
    // starts again from the first flavor.
    return !targets.isEmpty()
        || activeQueues.mayFindOthersThan(queue.node(), pendingPreemption.began());
  }

  /**
   * A StrictFIFO head stays the head; a Workload of another queue is held until quota is released
   * in its tree, or its gates change.
   */
  private boolean holdGated(CycleOutcome.PreemptionGated preemptionGated) {
    QueuedWorkload item = preemptionGated.item();
    ClusterQueueCache queue = preemptionGated.queue();
    if (queue.queueing().headBlocks()) {
      holdClaim(queue, item, preemptionGated.explanation());
      return activeQueues.mayFindOthersThan(queue.node(), preemptionGated.began());
    }
    queue.pending().hold(item, preemptionGated.explanation());
    inadmissibleIndex.gated(queue, item);
    unreportedExplanations.add(workloads.entryOf(item));
    activeQueues.add(queue);
    return true;
  }

  /**
   * Holds the Workload, or blocks its StrictFIFO queue if {@link EligibilityCheck#blocksQueue} says
   * so.
   */
  private boolean markIneligible(CycleOutcome.Ineligible ineligible) {
    QueuedWorkload item = ineligible.item();
    ClusterQueueCache queue = ineligible.queue();
    unreportedExplanations.add(workloads.entryOf(item));
    if (eligibilityCheck.blocksQueue(item, queue)) {
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
    List<PodSetAssignment> podSets = admitted.assignment().podSets();
    Reservation reservation =
        Reservation.decided(
            item, queue.name(), podSets, now, specRegistry.pairs, specRegistry.topologies);
    workloads.assume(item, reservation);
    decisions.accept(
        new Decision.Admit(
            item.id(),
            item.version(),
            queue.name(),
            podSets,
            now,
            item.queuedAt(),
            admitted.assignment().attempts()));
    activeQueues.add(queue);
    return true;
  }

  /** Holds a Workload for the pause after one more attempt in vain; others of its class go on. */
  private boolean pause(
      QueuedWorkload item, ClusterQueueCache queue, Explanation explanation, Instant now) {
    queue.pending().hold(item, Explanations.paused(explanation, queue.queueing()));
    attemptPauses.pause(item, queue, now);
    unreportedExplanations.add(workloads.entryOf(item));
    activeQueues.add(queue);
    return true;
  }

  private boolean markInadmissible(CycleOutcome.NoFit noFit, long cycle) {
    QueuedWorkload item = noFit.item();
    ClusterQueueCache queue = noFit.queue();
    EquivalenceClass equivalenceClass = item.equivalenceClass();
    InadmissibleIndex.InadmissibleQueue inadmissibleQueue =
        new InadmissibleIndex.InadmissibleQueue(queue, equivalenceClass);
    if (queue.queueing().headBlocks()) {
      equivalenceClass.missingQuota(noFit.shortages());
      if (noFit.searched()) {
        item.flavorProgress(FlavorProgress.withoutSuccess(queue, cycle));
      }
      if (noFit.reserving() || noFit.competing() || noFit.preempts() || holdsBackOthers(queue)) {
        holdClaim(queue, item, noFit.explanation());
      } else {
        activeQueues.block(queue, item, noFit.explanation());
        unreportedExplanations.add(workloads.entryOf(item));
        inadmissibleIndex.add(
            inadmissibleQueue, noFit.shortages(), noFit.competing(), noFit.preempts());
      }
      return false;
    }
    queue.pending().markInadmissible(equivalenceClass, noFit.explanation(), noFit.shortages());
    for (QueuedWorkload member : equivalenceClass.drainUnreported()) {
      unreportedExplanations.add(workloads.entryOf(member));
    }
    activeQueues.add(queue);
    inadmissibleIndex.add(
        inadmissibleQueue, noFit.shortages(), noFit.competing(), noFit.preempts());
    return true;
  }

  /**
   * Whether a blocked head of the queue changes the order in which others are admitted, although it
   * doesn't fit itself: in a tournament it beats heads of its own cohort, which then don't meet
   * those of another.
   */
  private boolean holdsBackOthers(ClusterQueueCache queue) {
    return tournaments && queue.node().parent() != null;
  }
}
