package dev.sluice.core.engine;

import dev.sluice.core.engine.Explanations.UnreportedExplanations;
import dev.sluice.core.engine.QuotaAccounting.DirtySet;
import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.CycleExplanations;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.waiting.Waiting;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Applies the outcomes of a cycle: reserves quota, marks targets as evicted, requeues or holds
 * Workloads with their explanations, and emits decisions.
 */
final class OutcomeApplier {

  private final SpecRegistry specRegistry;
  private final WorkloadTable workloads;
  private final WaitingWorkloads waiting;
  private final DirtySet dirtySet;
  private final UnreportedExplanations unreportedExplanations;
  private final EligibilityCheck eligibilityCheck;
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
      WaitingWorkloads waiting,
      DirtySet dirtySet,
      UnreportedExplanations unreportedExplanations,
      EligibilityCheck eligibilityCheck,
      boolean tournaments,
      Consumer<Decision> decisions) {
    this.specRegistry = specRegistry;
    this.workloads = workloads;
    this.waiting = waiting;
    this.dirtySet = dirtySet;
    this.unreportedExplanations = unreportedExplanations;
    this.eligibilityCheck = eligibilityCheck;
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
      waiting.notSkipped(cycleOutcome.queue());
    }
    if (staysActive(cycleOutcome)) {
      enqueue(cycleOutcome.queue(), cycleOutcome.item());
    }
    return switch (cycleOutcome) {
      case CycleOutcome.Admitted admitted -> admit(admitted, now);
      case CycleOutcome.PendingPreemption pendingPreemption -> preempt(pendingPreemption, now);
      case CycleOutcome.Skipped skipped -> skip(skipped);
      case CycleOutcome.PreemptionGated gated -> preemptionGated(gated);
      case CycleOutcome.TryNextFlavor tryNextFlavor -> {
        waiting.activate(tryNextFlavor.queue());
        yield true;
      }
      case CycleOutcome.Ineligible ineligible -> ineligible(ineligible);
      case CycleOutcome.OverBudget overBudget ->
          await(
              overBudget,
              overBudget.withTheseFlavors()
                  ? new Waiting.Gated(overBudget.explanation())
                  : new Waiting.Ineligible(overBudget.explanation()));
      case CycleOutcome.NoFit noFit -> noFit(noFit, cycle);
      case CycleOutcome.WaitingForPodsReady outcome ->
          await(outcome, new Waiting.ForPodsReady(outcome.explanation()));
      case CycleOutcome.QueueBlocked outcome ->
          await(outcome, new Waiting.AtLimit(outcome.explanation()));
      case CycleOutcome.NotProcessed notProcessed -> {
        waiting.activate(notProcessed.queue());
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
      case CycleOutcome.NoFit noFit -> noFit.startsAnew();
      case CycleOutcome.Ineligible ineligible -> false;
      case CycleOutcome.OverBudget overBudget -> false;
      case CycleOutcome.PreemptionGated preemptionGated -> false;
    };
  }

  /** Whether the cycles before, in which a head was skipped, no longer count. */
  private static boolean endsRound(CycleOutcome cycleOutcome) {
    return cycleOutcome instanceof CycleOutcome.PendingPreemption(_, _, _, _, _, var resumed)
        ? !resumed
        : !staysActive(cycleOutcome);
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
    } else if (waiting.skippedAgain(skipped.queue(), item, skipped.resumes())) {
      item.flavorProgress(skipped.before());
    } else {
      waiting.activate(skipped.queue());
      return true;
    }
    return await(skipped, new Waiting.Claiming(skipped.explanation()));
  }

  /**
   * Makes the Workload of an outcome wait.
   *
   * @return whether the next Workload of the queue is the head now
   */
  private boolean await(CycleOutcome outcome, Waiting what) {
    waiting.await(outcome.queue(), outcome.item(), what);
    unreportedExplanations.add(workloads.entryOf(outcome.item()));
    return switch (what) {
      case Waiting.Ineligible _, Waiting.Pausing _, Waiting.Gated _ -> true;
      case Waiting.Inadmissible _ -> !outcome.queue().queueing().headBlocks();
      case Waiting.Blocking _, Waiting.Claiming _, Waiting.AtLimit _, Waiting.ForPodsReady _ ->
          false;
    };
  }

  private boolean preempt(CycleOutcome.PendingPreemption pendingPreemption, Instant now) {
    QueuedWorkload item = pendingPreemption.item();
    ClusterQueueCache queue = pendingPreemption.queue();
    List<Decision.Target> targets = new ArrayList<>();
    for (PreemptionTarget preemptionTarget : pendingPreemption.preemptionTargets()) {
      if (!preemptionTarget.quotaHolder().evicted()) {
        WorkloadId id = preemptionTarget.quotaHolder().id();
        waiting.preempts(item.id(), id, queue);
        targets.add(
            new Decision.Target(
                id,
                workloads.evict(id),
                preemptionTarget.queue().node().path(),
                preemptionTarget.quotaHolder().priority(),
                preemptionTarget.reason(),
                preemptionTarget
                    .quotaHolder()
                    .protection()
                    .rules(preemptionTarget.queue().node().preemptionRules())));
      }
    }
    if (!targets.isEmpty()) {
      workloads.preempts(item, queue);
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
    await(pendingPreemption, new Waiting.Claiming(pendingPreemption.explanation()));
    // A flavor search that began before the last change of reservations, or before one was dropped,
    // starts again from the first flavor.
    // One that resumed starts there anyway, and doesn't reserve the same quota in between: a head
    // that was skipped because of it may fit then.
    if (!targets.isEmpty() || waiting.mayFindOthersThan(queue.node(), pendingPreemption.began())) {
      waiting.notSkipped(queue);
      return true;
    }
    return pendingPreemption.resumed() && !waiting.endsSearchAgain(queue, item);
  }

  /**
   * A StrictFIFO head stays the head; a Workload of another queue pauses, or is held until quota is
   * released in its tree or its gates change.
   */
  private boolean preemptionGated(CycleOutcome.PreemptionGated gated) {
    ClusterQueueCache queue = gated.queue();
    if (queue.queueing().backsOff()) {
      return await(gated, new Waiting.Pausing(gated.explanation()));
    }
    if (queue.queueing().headBlocks()) {
      await(gated, new Waiting.Claiming(gated.explanation()));
      return waiting.mayFindOthersThan(queue.node(), gated.began());
    }
    return await(gated, new Waiting.Gated(gated.explanation()));
  }

  /**
   * Holds the Workload, or blocks its StrictFIFO queue if {@link EligibilityCheck#blocksQueue} says
   * so.
   */
  private boolean ineligible(CycleOutcome.Ineligible ineligible) {
    return await(
        ineligible,
        eligibilityCheck.blocksQueue(ineligible.item(), ineligible.queue())
            ? new Waiting.Blocking(ineligible.explanation())
            : new Waiting.Ineligible(ineligible.explanation()));
  }

  private boolean admit(CycleOutcome.Admitted admitted, Instant now) {
    QueuedWorkload item = admitted.item();
    ClusterQueueCache queue = admitted.queue();
    List<PodSetAssignment> podSets = admitted.assignment().podSets();
    Reservation reservation =
        Reservation.decided(
            item, queue.name(), podSets, now, specRegistry.pairs, specRegistry.topologies);
    workloads.assume(item, reservation);
    waiting.hasQuota(item.id());
    decisions.accept(
        new Decision.Admit(
            item.id(),
            item.version(),
            queue.name(),
            podSets,
            now,
            item.queuedAt(),
            admitted.assignment().attempts()));
    waiting.activate(queue);
    return true;
  }

  private boolean noFit(CycleOutcome.NoFit noFit, long cycle) {
    ClusterQueueCache queue = noFit.queue();
    QueuedWorkload item = noFit.item();
    if (noFit.reserving() && !queue.queueing().headBlocks()) {
      waiting.reservationDropped(queue.node());
    }
    if (queue.queueing().backsOff()) {
      return await(noFit, new Waiting.Pausing(noFit.explanation()));
    }
    if (noFit.searchedInTurn() && queue.queueing().headBlocks()) {
      item.flavorProgress(FlavorProgress.withoutSuccess(queue, cycle));
    }
    if (noFit.startsAnew() && !waiting.endsSearchAgain(queue, item)) {
      waiting.activate(queue);
      return true;
    }
    Waiting inadmissible =
        new Waiting.Inadmissible(
            noFit.explanation(), noFit.shortages(), noFit.competing(), noFit.preempts());
    if (!queue.queueing().headBlocks()) {
      waiting.await(queue, item, inadmissible);
      for (QueuedWorkload member : item.equivalenceClass().drainUnreported()) {
        unreportedExplanations.add(workloads.entryOf(member));
      }
      return true;
    }
    item.equivalenceClass().missingQuota(noFit.shortages());
    boolean claims =
        noFit.reserving() || noFit.competing() || noFit.preempts() || holdsBackOthers(queue);
    return await(noFit, claims ? new Waiting.Claiming(noFit.explanation()) : inadmissible);
  }

  /**
   * Whether a blocked head of the queue changes the order in which others are admitted, although it
   * doesn't fit itself: in a tournament it beats heads of its own cohort, which then don't meet
   * those of another.
   */
  private boolean holdsBackOthers(ClusterQueueCache queue) {
    return tournaments && queue.node().parent() != null;
  }

  /**
   * Finds reasons that keep a Workload from being evaluated, whatever the quota
   * (docs/scheduling-semantics.md#what-is-pending).
   */
  static final class EligibilityCheck {

    private final SpecRegistry specRegistry;

    EligibilityCheck(SpecRegistry specRegistry) {
      this.specRegistry = specRegistry;
    }

    /** The reason that keeps a Workload from being evaluated; empty for an eligible Workload. */
    Optional<Explanation> of(QueuedWorkload item, ClusterQueueCache queue) {
      Optional<Explanation> mismatch = namespaceMismatch(item, queue);
      if (mismatch.isPresent()) {
        return mismatch;
      }
      return item.defect().isPresent()
          ? item.defect().map(Explanations::misconfigured)
          : atWorkloadLimit(item);
    }

    private Optional<Explanation> atWorkloadLimit(QueuedWorkload item) {
      if (specRegistry.limitedLocalQueues == 0) {
        return Optional.empty();
      }
      LocalQueueState localQueue = specRegistry.localQueues.get(item.localQueue());
      return localQueue != null && localQueue.atWorkloadLimit()
          ? Optional.of(
              new Explanation(
                  PendingReason.WAITING_FOR_QUOTA,
                  List.of(),
                  "LocalQueue "
                      + localQueue.id.name()
                      + " has as many workloads with quota as "
                      + CycleExplanations.WORKLOAD_LIMIT
                      + " allows: "
                      + localQueue.reserving))
          : Optional.empty();
    }

    private Optional<Explanation> namespaceMismatch(QueuedWorkload item, ClusterQueueCache queue) {
      String namespace = item.id().namespace();
      Map<String, String> labels = specRegistry.namespaces.get(namespace);
      ClusterQueueSpec spec = queue.spec();
      if (labels == null) {
        return Optional.of(Explanations.misconfigured("namespace " + namespace + " doesn't exist"));
      }
      return !spec.namespaceSelector().matches(labels)
          ? Optional.of(
              Explanations.misconfigured(
                  "namespace "
                      + namespace
                      + " doesn't match the namespaceSelector of ClusterQueue "
                      + spec.name()))
          : Optional.empty();
    }

    /**
     * Whether an ineligible Workload blocks its queue: it does where a head can block the queue,
     * unless its namespace is the reason.
     */
    boolean blocksQueue(QueuedWorkload ineligible, ClusterQueueCache queue) {
      return queue.queueing().headBlocks() && namespaceMismatch(ineligible, queue).isEmpty();
    }
  }
}
