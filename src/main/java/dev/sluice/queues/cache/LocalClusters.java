package dev.sluice.queues.cache;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.workload.CachedWorkload;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where this cluster is a worker of its own: by which names, for which checks, and by which flavors
 * quota of it is told from quota of others. Readable from any thread.
 */
public final class LocalClusters {

  private final InformerCaches informerCaches;
  private final List<Runnable> observers = new CopyOnWriteArrayList<>();
  private volatile Declared declared = new Declared(Map.of(), Set.of());

  private record Declared(Map<String, Map<String, String>> clusters, Set<String> checks) {}

  /** Whose quota a Workload holds. */
  public sealed interface QuotaLocation {

    /** This cluster's, under this name. */
    record Local(String cluster) implements QuotaLocation {}

    /** That of others. */
    record Remote() implements QuotaLocation {}

    /** Some of both, of these flavors. */
    record Mixed(Set<String> flavors) implements QuotaLocation {}
  }

  /** Nowhere yet. */
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

  /** Has this run whenever another answer may be given about any Workload. */
  public void observe(Runnable observer) {
    observers.add(observer);
  }

  /**
   * What is declared.
   *
   * @param clusters the names of this cluster as a worker, with the labels of each
   * @param checks the checks that choose from one of them
   */
  public void declare(Map<String, Map<String, String>> clusters, Set<String> checks) {
    Declared now = new Declared(Map.copyOf(clusters), Set.copyOf(checks));
    if (!now.equals(declared)) {
      declared = now;
      notifyObservers();
    }
  }

  /** Whether this is a name of this cluster. */
  public boolean isHere(String cluster) {
    return declared.clusters().containsKey(cluster);
  }

  /** Whether jobs of this LocalQueue may run here as well as in other clusters. */
  public boolean mayRunHere(String namespace, String queue) {
    return informerCaches
        .localQueues()
        .find(namespace, queue)
        .filter(this::isConcerned)
        .isPresent();
  }

  /**
   * The names of this cluster whose quota a Workload must not get: it can't run here, or isn't
   * allowed to.
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

  /** Whether a Workload's job may run here. */
  public static boolean isMarked(CachedWorkload workload) {
    return "true".equals(workload.annotations().get(LocalClusterAnnotations.MAY_RUN_HERE));
  }

  /** Whose quota a Workload holds, by the flavors that it was given. */
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

  /** Whether a Workload has a check that sends it to clusters, and holds quota of another one. */
  public boolean isSent(CachedWorkload workload) {
    return workload.status().admission().isPresent()
        && workload.status().admissionChecks().stream()
            .flatMap(check -> informerCaches.checks().find(check.name()).stream())
            .anyMatch(
                check ->
                    check.getSpec() != null
                        && KueueConstants.MULTIKUEUE.equals(check.getSpec().controllerName()))
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
