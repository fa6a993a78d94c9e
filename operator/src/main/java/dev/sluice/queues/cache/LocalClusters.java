package dev.sluice.queues.cache;

import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Records where this cluster is also a worker: its worker names, the checks that select them, and
 * which flavors carry quota of this cluster. Thread-safe for readers.
 */
public final class LocalClusters {

  private final InformerCaches informerCaches;
  private final List<Runnable> observers = new CopyOnWriteArrayList<>();
  private volatile Declared declared = new Declared(Map.of(), Set.of());

  private record Declared(Map<String, Map<String, String>> clusters, Set<String> checks) {}

  /** Location of the quota that a Workload holds. */
  public sealed interface QuotaLocation {

    /** The quota belongs to this cluster, under this worker name. */
    record Local(String cluster) implements QuotaLocation {}

    /** The quota belongs to worker clusters. */
    record Remote() implements QuotaLocation {}

    /**
     * The quota belongs partly to this cluster.
     *
     * @param flavors the assigned flavors
     */
    record Mixed(Set<String> flavors) implements QuotaLocation {}
  }

  /** Starts without worker names. */
  public LocalClusters(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
    informerCaches
        .clusterQueues()
        .observe(
            (before, after) -> {
              if (isConcerned(before) != isConcerned(after)) {
                notifyObservers();
              }
            });
    informerCaches
        .localQueues()
        .observe(
            (before, after) -> {
              if (isConcerned(before) != isConcerned(after)) {
                notifyObservers();
              }
            });
  }

  private void notifyObservers() {
    observers.forEach(Runnable::run);
  }

  private boolean isConcerned(@Nullable LocalQueue queue) {
    return queue != null
        && Optional.ofNullable(queue.getSpec())
            .flatMap(spec -> Optional.ofNullable(spec.clusterQueue()))
            .flatMap(informerCaches.clusterQueues()::find)
            .filter(this::isConcerned)
            .isPresent();
  }

  private boolean isConcerned(@Nullable ClusterQueue queue) {
    Set<String> checks = declared.checks();
    return queue != null
        && !checks.isEmpty()
        && ClusterQueueMapper.admissionChecks(queue).stream().anyMatch(checks::contains);
  }

  /** Registers an observer that runs whenever the answer for any Workload may have changed. */
  public void observe(Runnable observer) {
    observers.add(observer);
  }

  /**
   * Sets the worker names of this cluster.
   *
   * @param clusters the names of this cluster as a worker, with the labels of each
   * @param checks the checks that select one of them
   */
  public void declare(Map<String, Map<String, String>> clusters, Set<String> checks) {
    Declared now = new Declared(Map.copyOf(clusters), Set.copyOf(checks));
    if (!now.equals(declared)) {
      declared = now;
      notifyObservers();
    }
  }

  /** Whether the jobs of this LocalQueue run in other clusters only. */
  public boolean runsElsewhere(String namespace, String queue) {
    return !mayRunHere(namespace, queue)
        && informerCaches
            .localQueues()
            .find(namespace, queue)
            .flatMap(found -> Optional.ofNullable(found.getSpec()))
            .flatMap(spec -> Optional.ofNullable(spec.clusterQueue()))
            .flatMap(informerCaches.clusterQueues()::find)
            .stream()
            .flatMap(clusterQueue -> ClusterQueueMapper.admissionChecks(clusterQueue).stream())
            .anyMatch(informerCaches::dispatchesRemotely);
  }

  /** Whether this is a worker name of this cluster. */
  public boolean isHere(String cluster) {
    return declared.clusters().containsKey(cluster);
  }

  /** Whether jobs of this LocalQueue may run in this cluster as well as in worker clusters. */
  public boolean mayRunHere(String namespace, String queue) {
    return informerCaches
        .localQueues()
        .find(namespace, queue)
        .filter(this::isConcerned)
        .isPresent();
  }

  /**
   * The worker names of this cluster whose quota a Workload must not use, because its job cannot
   * run here or its annotations exclude the cluster.
   */
  public Set<String> avoidedBy(CachedWorkload workload) {
    Map<String, Map<String, String>> clusters = declared.clusters();
    if (clusters.isEmpty() || !mayRunHere(workload.id().namespace(), workload.spec().queueName())) {
      return Set.of();
    }
    if (!isMarked(workload)) {
      return clusters.keySet();
    }
    PlacementLimits limits = PlacementLimits.of(workload.annotations());
    return clusters.entrySet().stream()
        .filter(each -> limits.forbids(each.getKey(), each.getValue()).isPresent())
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** Whether a Workload's job may run in this cluster. */
  public static boolean isMarked(CachedWorkload workload) {
    return "true".equals(workload.annotations().get(LocalClusterAnnotations.MAY_RUN_HERE));
  }

  /** The location of the quota that a Workload holds, according to its assigned flavors. */
  public QuotaLocation quotaLocation(CachedWorkload workload) {
    Set<String> flavors =
        workload.status().admission().stream()
            .flatMap(admission -> admission.podSetAssignments().stream())
            .flatMap(podSet -> podSet.flavors().values().stream())
            .collect(Collectors.toSet());
    Set<Optional<String>> clusters =
        flavors.stream().map(this::clusterOf).collect(Collectors.toSet());
    if (clusters.size() > 1) {
      return new QuotaLocation.Mixed(flavors);
    }
    return clusters.stream()
        .flatMap(Optional::stream)
        .<QuotaLocation>map(QuotaLocation.Local::new)
        .findFirst()
        .orElseGet(QuotaLocation.Remote::new);
  }

  /** Whether a Workload has a check that sends it away, and holds quota of another cluster. */
  public boolean isSent(CachedWorkload workload) {
    return workload.status().admission().isPresent()
        && workload.status().admissionChecks().stream()
            .anyMatch(check -> informerCaches.dispatchesRemotely(check.name()))
        && quotaLocation(workload) instanceof QuotaLocation.Remote;
  }

  private Optional<String> clusterOf(String flavor) {
    return informerCaches
        .flavors()
        .find(flavor)
        .map(found -> found.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(LocalClusterAnnotations.FLAVOR))
        .filter(this::isHere);
  }
}
