package dev.sluice.core.scheduling;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import java.util.List;
import java.util.Optional;

/** What budgets say about the heads of a cycle (docs/budgets.md#what-holds-a-workload). */
public interface BudgetCheck {

  /** Why a head is held whatever its flavors; empty if it may be nominated. */
  Optional<Explanation> beforeFlavors(QueuedWorkload workload, ClusterQueueCache queue);

  /** Why a head is held that would use so much; empty if all budgets let it start. */
  Optional<Explanation> of(
      QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage);

  /** Records that the cycle admits a head, so that no later one is promised the same. */
  void admitted(QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage);
}
