package dev.sluice.core.scheduling;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.util.List;
import java.util.Optional;

/** What a cycle has to know about heads besides quota. */
public interface HeadRules {

  /** Why a Workload can't be evaluated, whatever the quota; empty if it can. */
  Optional<Explanation> ineligibility(QueuedWorkload workload, ClusterQueueCache queue);

  /**
   * The variants with quota that a variant evicts when it fits, in place of getting quota
   * (docs/concurrent-admission.md); empty if it gets quota.
   */
  List<PreemptionTarget> movesFrom(QueuedWorkload workload);
}
