package dev.sluice.core.scheduling;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outcome of a cycle for one head. */
public sealed interface CycleOutcome {

  /** The head. */
  QueuedWorkload item();

  /** The queue of the head. */
  ClusterQueueCache queue();

  /** The head gets quota; its usage was added. */
  record Admitted(QueuedWorkload item, ClusterQueueCache queue, Assignment assignment)
      implements CycleOutcome {}

  /**
   * The queue may not admit: it or a cohort has as many Workloads with quota as it may, or the pods
   * of its admitted Workloads are not ready. The head blocks the queue until that changes.
   */
  record QueueBlocked(QueuedWorkload item, ClusterQueueCache queue, Explanation explanation)
      implements CycleOutcome {}

  /**
   * The head fits after the eviction of Workloads that are being evicted or will be; it stays
   * active, and in each cycle reserves the quota that it waits for.
   *
   * @param preemptionTargets the Workloads to evict, those already being evicted included; empty if
   *     the targets of other preemptors are sufficient
   * @param began the number of the cycle in which the flavor search started at the first flavor: if
   *     nothing has changed since, another search has the same result
   * @param resumed whether the search resumed behind the first flavor: the next one starts there,
   *     and the head reserves other quota, or none, until it is here again
   */
  record PendingPreemption(
      QueuedWorkload item,
      ClusterQueueCache queue,
      List<PreemptionTarget> preemptionTargets,
      Explanation explanation,
      long began,
      boolean resumed)
      implements CycleOutcome {}

  /**
   * The head needs preemption, but one of its preemption gates is closed; it gets no quota and
   * reserves none.
   *
   * @param began the number of the cycle in which the flavor search started at the first flavor
   */
  record PreemptionGated(
      QueuedWorkload item, ClusterQueueCache queue, Explanation explanation, long began)
      implements CycleOutcome {}

  /**
   * The head fitted when it was nominated, but not after the heads before it; it stays active.
   *
   * @param repeats whether another cycle has the same result if nothing else changes
   * @param resumes the flavors after which the search resumes in the next cycle
   * @param before the progress of the search before this cycle, to resume there once more; null to
   *     start at the first flavor
   */
  record Skipped(
      QueuedWorkload item,
      ClusterQueueCache queue,
      Explanation explanation,
      boolean repeats,
      List<Integer> resumes,
      @Nullable FlavorProgress before)
      implements CycleOutcome {}

  /**
   * The head doesn't fit, and no Workload of its class fits until something changes.
   *
   * @param shortages the missing amounts
   * @param competing whether any release of quota may make the class fit
   * @param preempts whether new preemption targets may make the class fit
   * @param reserving whether the head reserved quota in this cycle
   * @param searched among which flavors this cycle searched
   */
  record NoFit(
      QueuedWorkload item,
      ClusterQueueCache queue,
      Explanation explanation,
      List<EquivalenceClass.Shortage> shortages,
      boolean competing,
      boolean preempts,
      boolean reserving,
      Searched searched)
      implements CycleOutcome {

    /**
     * Whether the head goes on searching, because its flavors before those of this cycle may have
     * targets: a head that blocks its queue is evaluated in each cycle.
     */
    public boolean startsAnew() {
      return (searched == Searched.REST || searched == Searched.REST_IN_TURN)
          && queue.queueing().headBlocks();
    }

    /** Whether the next search tries the first flavor alone, until something changes. */
    public boolean searchedInTurn() {
      return searched == Searched.IN_TURN || searched == Searched.REST_IN_TURN;
    }
  }

  /** The flavors among which a head found none. */
  enum Searched {
    ALL,
    /** Those behind one with which the head was skipped in an earlier cycle. */
    REST,
    /**
     * Those behind one without success in an earlier cycle: the head found one of them, and heads
     * before it took the places.
     */
    REST_IN_TURN,
    /** Those of several consecutive cycles that evaluated the head, flavor after flavor. */
    IN_TURN
  }

  /** The head doesn't fit so far, but there are untried flavors; it stays active. */
  record TryNextFlavor(QueuedWorkload item, ClusterQueueCache queue) implements CycleOutcome {}

  /** The head can't be evaluated, for a reason of its own. */
  record Ineligible(QueuedWorkload item, ClusterQueueCache queue, Explanation explanation)
      implements CycleOutcome {}

  /**
   * The head would spend more than a budget has left, or use capacity that is kept; it is held and
   * reserves no quota.
   *
   * @param withTheseFlavors whether only the flavors that were found for it are too much, so that a
   *     release of quota, which may lead to others, may help
   */
  record OverBudget(
      QueuedWorkload item,
      ClusterQueueCache queue,
      boolean withTheseFlavors,
      Explanation explanation)
      implements CycleOutcome {}

  /**
   * The head fits, but no Workload may be admitted before all pods of admitted Workloads are ready;
   * no cycle runs until then.
   */
  record WaitingForPodsReady(QueuedWorkload item, ClusterQueueCache queue, Explanation explanation)
      implements CycleOutcome {}

  /** The cycle ended before it processed the head; it stays active. */
  record NotProcessed(QueuedWorkload item, ClusterQueueCache queue) implements CycleOutcome {}
}
