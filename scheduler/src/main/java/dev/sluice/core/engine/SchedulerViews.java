package dev.sluice.core.engine;

import dev.sluice.core.model.LocalQueueId;
import java.util.Collection;
import java.util.Optional;

/**
 * The published state of the engine: immutable snapshots, readable from any thread, at most a
 * moment old.
 */
public interface SchedulerViews {

  /** The view of a ClusterQueue; empty if the engine doesn't know the ClusterQueue. */
  Optional<ClusterQueueView> clusterQueue(String name);

  /** The view of a LocalQueue; empty if the engine doesn't know the LocalQueue. */
  Optional<LocalQueueView> localQueue(LocalQueueId id);

  /** The view of a cohort that has an object or members. */
  Optional<CohortView> cohort(String name);

  /** All ClusterQueues. */
  Collection<ClusterQueueView> clusterQueues();

  /** All LocalQueues. */
  Collection<LocalQueueView> localQueues();

  /** All cohorts. */
  Collection<CohortView> cohorts();
}
