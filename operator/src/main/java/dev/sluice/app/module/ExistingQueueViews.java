package dev.sluice.app.module;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.queues.cache.InformerCaches;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The published views of queues whose objects exist: a deleted queue has no view from the moment
 * its deletion is known, not only when the scheduler has published again. A cohort has a view as
 * long as its object exists or another object names it; a cohort whose object was deleted has none
 * while others name it.
 *
 * @param deletedCohorts the cohorts whose objects were deleted and which others may still name
 */
record ExistingQueueViews(
    SchedulerViews published, InformerCaches caches, Set<String> deletedCohorts)
    implements SchedulerViews {

  /** The views of what exists according to the caches, which are observed from now on. */
  static ExistingQueueViews of(SchedulerViews published, InformerCaches caches) {
    Set<String> deleted = ConcurrentHashMap.newKeySet();
    caches
        .cohorts()
        .observe(
            (before, after) -> {
              if (after != null) {
                deleted.remove(after.getMetadata().getName());
              } else if (before != null) {
                deleted.add(before.getMetadata().getName());
              }
            });
    return new ExistingQueueViews(published, caches, deleted);
  }

  @Override
  public Optional<ClusterQueueView> clusterQueue(String name) {
    return published.clusterQueue(name).filter(this::exists);
  }

  @Override
  public Optional<LocalQueueView> localQueue(LocalQueueId id) {
    return published.localQueue(id).filter(this::exists);
  }

  @Override
  public Optional<CohortView> cohort(String name) {
    return published.cohort(name).filter(this::exists);
  }

  @Override
  public Collection<ClusterQueueView> clusterQueues() {
    return published.clusterQueues().stream().filter(this::exists).toList();
  }

  @Override
  public Collection<LocalQueueView> localQueues() {
    return published.localQueues().stream().filter(this::exists).toList();
  }

  @Override
  public Collection<CohortView> cohorts() {
    return published.cohorts().stream().filter(this::exists).toList();
  }

  private boolean exists(ClusterQueueView queue) {
    return caches.clusterQueues().find(queue.name()).isPresent();
  }

  private boolean exists(LocalQueueView queue) {
    return caches.localQueues().find(queue.id().namespace(), queue.id().name()).isPresent();
  }

  private boolean exists(CohortView cohort) {
    if (caches.cohorts().find(cohort.name()).isPresent()) {
      return true;
    }
    if (!isNamed(cohort.name())) {
      deletedCohorts.remove(cohort.name());
      return false;
    }
    return !deletedCohorts.contains(cohort.name());
  }

  private boolean isNamed(String cohort) {
    return published.clusterQueues().stream()
            .anyMatch(queue -> queue.cohort().equals(cohort) && exists(queue))
        || caches.cohorts().all().stream()
            .anyMatch(
                child -> child.getSpec() != null && cohort.equals(child.getSpec().parentName()));
  }
}
