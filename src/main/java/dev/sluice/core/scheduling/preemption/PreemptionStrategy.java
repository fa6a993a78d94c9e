package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import java.util.List;
import java.util.Optional;

/** The policy that says whom a Workload may preempt; chosen once, when the engine is built. */
@FunctionalInterface
public interface PreemptionStrategy {

  /**
   * Victims found.
   *
   * @param victims whom to evict; at least one
   * @param borrowLevel how high the preemptor borrows for what it needs once they are gone
   */
  record Found(List<PreemptionTarget> preemptionTargets, int borrowLevel) {
    public Found {
      preemptionTargets = List.copyOf(preemptionTargets);
    }
  }

  /**
   * Whom to evict so that the preemptor fits; empty if nobody it may evict makes it fit. Quota
   * usage and holders are as before when it returns.
   */
  Optional<Found> find(PreemptionRequest preemptionRequest);

  /** Whether a queue may preempt where its request borrows, whatever else its policies say. */
  default boolean mayPreemptBorrowing(ClusterQueueCache queue) {
    return queue.spec().preemption().borrowWithinCohort();
  }
}
