package dev.sluice.core.scheduling;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What budgets (docs/budgets.md#what-holds-a-workload) and reservations of capacity
 * (docs/reservations.md) say about the heads of a cycle.
 */
public interface BudgetCheck {

  /** Why a head is held whatever its flavors; empty if it may be nominated. */
  Optional<Explanation> beforeFlavors(QueuedWorkload workload, ClusterQueueCache queue);

  /** The nodes that a Workload may not get. */
  default Set<Scope.OfNodes> closedTo(QueuedWorkload workload, ClusterQueueCache queue) {
    return Set.of();
  }

  /**
   * The flavors of which a head would use what is kept for others, so that it tries other ones.
   *
   * @param targets the Workloads that are evicted for it
   */
  default Set<String> keptFlavors(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      List<PreemptionTarget> targets) {
    return Set.of();
  }

  /**
   * Why a head is held that would get this; empty if all let it start.
   *
   * @param targets the Workloads that are evicted for it
   */
  Optional<Explanation> of(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      List<PreemptionTarget> targets);

  /** Records that the cycle admits a head, so that no later one is promised the same. */
  void admitted(QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage);

  /** Records that the cycle evicts Workloads for a head: to later ones they are gone. */
  default void preempted(List<PreemptionTarget> targets) {}
}
