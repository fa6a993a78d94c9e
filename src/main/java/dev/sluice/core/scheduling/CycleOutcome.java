package dev.sluice.core.scheduling;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.util.List;

/** What became of a head in a cycle. */
public sealed interface CycleOutcome {

  /** Whom it is about. */
  QueuedWorkload item();

  /** The queue it waits in. */
  ClusterQueueCache queue();

  /** It gets quota; usage is added. */
  record Admitted(QueuedWorkload item, ClusterQueueCache queue, Assignment assignment)
      implements CycleOutcome {}

  /**
   * It fits once Workloads that are or will be evicted have stopped; it stays in line, and in each
   * cycle keeps others from what it waits for.
   *
   * @param victims whom to evict for it, those being evicted already included; none if others
   *     preempt for it
   * @param began the cycle in which its search was at the first flavor: if nothing changed since,
   *     another search would lead to the same
   */
  record PendingPreemption(
      QueuedWorkload item,
      ClusterQueueCache queue,
      List<PreemptionTarget> preemptionTargets,
      Explanation explanation,
      long began)
      implements CycleOutcome {}

  /**
   * It would fit if others were preempted, but one of its preemption gates is closed; it gets
   * nothing, and keeps nobody from anything.
   *
   * @param began the cycle in which its search was at the first flavor
   */
  record PreemptionGated(
      QueuedWorkload item, ClusterQueueCache queue, Explanation explanation, long began)
      implements CycleOutcome {}

  /**
   * It fitted, but not after those before it; it stays in line.
   *
   * @param repeats whether the same would come of it if nothing else changed
   */
  record Skipped(
      QueuedWorkload item, ClusterQueueCache queue, Explanation explanation, boolean repeats)
      implements CycleOutcome {}

  /**
   * It doesn't fit, and neither does anyone like it until something changes.
   *
   * @param lacks what it lacked
   * @param competing whether whatever is released may help
   * @param preempts whether others may help by being there to be preempted
   * @param reserving whether it kept others from quota in this cycle
   * @param searched whether it was looked at in several cycles, flavor after flavor
   */
  record NoFit(
      QueuedWorkload item,
      ClusterQueueCache queue,
      Explanation explanation,
      List<EquivalenceClass.Lack> lacks,
      boolean competing,
      boolean preempts,
      boolean reserving,
      boolean searched)
      implements CycleOutcome {}

  /** It doesn't fit so far, but there are flavors left to try; it stays in line. */
  record TryNextFlavor(QueuedWorkload item, ClusterQueueCache queue) implements CycleOutcome {}

  /** It can't be considered, for a reason of its own. */
  record Ineligible(QueuedWorkload item, ClusterQueueCache queue, Explanation explanation)
      implements CycleOutcome {}

  /**
   * It fits, but nobody may be admitted before all pods of admitted Workloads are ready; until then
   * there is no other cycle.
   */
  record WaitingForPodsReady(QueuedWorkload item, ClusterQueueCache queue, Explanation explanation)
      implements CycleOutcome {}

  /** The cycle ended before its turn came; it stays in line. */
  record NotProcessed(QueuedWorkload item, ClusterQueueCache queue) implements CycleOutcome {}
}
