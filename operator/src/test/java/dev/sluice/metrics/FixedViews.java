package dev.sluice.metrics;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.LocalQueueView.LocalQueueUsageView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.quota.DominantResourceShare;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Views that a test says. */
public final class FixedViews implements SchedulerViews {

  private final Map<String, ClusterQueueView> clusterQueues = new TreeMap<>();
  private final Map<LocalQueueId, LocalQueueView> localQueues = new TreeMap<>();
  private final Map<String, CohortView> cohorts = new TreeMap<>();

  /** With one more, or another one of this name. */
  public FixedViews clusterQueue(
      String name, String cohort, List<InactiveReason> problems, FlavorUsage... usage) {
    String root = cohort.isEmpty() ? "" : "root";
    clusterQueues.put(
        name, new ClusterQueueView(name, cohort, root, problems, 3, 4, 2, 1, List.of(usage)));
    return this;
  }

  /** With one more, or another one of this name. */
  public FixedViews localQueue(
      String namespace, String name, String clusterQueue, FlavorUsage... usage) {
    LocalQueueId id = new LocalQueueId(namespace, name);
    localQueues.put(
        id, new LocalQueueView(id, clusterQueue, List.of(), 3, 4, 2, 1, List.of(usage)));
    return this;
  }

  /** What a LocalQueue that is there used in the past, in one number. */
  public FixedViews pastUse(String namespace, String name, double amount) {
    localQueues.computeIfPresent(
        new LocalQueueId(namespace, name),
        (id, queue) ->
            new LocalQueueView(
                id,
                queue.clusterQueue(),
                queue.problems(),
                queue.pendingActive(),
                queue.pendingInadmissible(),
                queue.reserving(),
                queue.admitted(),
                queue.usage(),
                Optional.of(new LocalQueueUsageView(new TreeMap<>(), Instant.EPOCH, amount))));
    return this;
  }

  /** With one more, or another one of this name. */
  public FixedViews cohort(String name, String parent, FlavorUsage... usage) {
    cohorts.put(name, new CohortView(name, parent, "root", List.of(usage)));
    return this;
  }

  /** All ClusterQueues and cohorts that are there have the share of nothing borrowed. */
  public FixedViews sharing() {
    clusterQueues.replaceAll(
        (name, queue) ->
            new ClusterQueueView(
                name,
                queue.cohort(),
                queue.rootCohort(),
                queue.problems(),
                queue.pendingActive(),
                queue.pendingInadmissible(),
                queue.reserving(),
                queue.admitted(),
                Optional.of(DominantResourceShare.NONE),
                queue.usage()));
    cohorts.replaceAll(
        (name, cohort) ->
            new CohortView(
                name,
                cohort.parent(),
                cohort.root(),
                Optional.of(DominantResourceShare.NONE),
                cohort.usage()));
    return this;
  }

  /** Without this queue and its LocalQueues. */
  public void remove(String clusterQueue) {
    clusterQueues.remove(clusterQueue);
    localQueues.values().removeIf(queue -> queue.clusterQueue().equals(clusterQueue));
  }

  @Override
  public Optional<ClusterQueueView> clusterQueue(String name) {
    return Optional.ofNullable(clusterQueues.get(name));
  }

  @Override
  public Optional<LocalQueueView> localQueue(LocalQueueId id) {
    return Optional.ofNullable(localQueues.get(id));
  }

  @Override
  public Optional<CohortView> cohort(String name) {
    return Optional.ofNullable(cohorts.get(name));
  }

  @Override
  public Collection<ClusterQueueView> clusterQueues() {
    return clusterQueues.values();
  }

  @Override
  public Collection<LocalQueueView> localQueues() {
    return localQueues.values();
  }

  @Override
  public Collection<CohortView> cohorts() {
    return cohorts.values();
  }
}
