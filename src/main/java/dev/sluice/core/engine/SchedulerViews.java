package dev.sluice.core.engine;

import dev.sluice.core.model.LocalQueueId;
import java.util.Collection;
import java.util.Optional;

/** The published state of the engine: immutable, readable from any thread, a moment old at most. */
public interface SchedulerViews {

  /** A ClusterQueue that the engine knows. */
  Optional<ClusterQueueView> clusterQueue(String name);

  /** A LocalQueue that the engine knows. */
  Optional<LocalQueueView> localQueue(LocalQueueId id);

  /** A cohort that has an object or members. */
  Optional<CohortView> cohort(String name);

  /** All ClusterQueues. */
  Collection<ClusterQueueView> clusterQueues();

  /** All LocalQueues. */
  Collection<LocalQueueView> localQueues();

  /** All cohorts. */
  Collection<CohortView> cohorts();
}
