package dev.sluice.controllers.world;

import dev.sluice.api.placement.LocalWorker;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.controllers.translation.ClusterQueues;
import dev.sluice.workloads.Workload;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/**
 * Where this cluster is a worker of its own: by which names, for which checks, and by which flavors
 * quota of it is told from quota of others. Readable from any thread.
 */
public final class LocalWorkers {

  private final World world;
  private final List<Runnable> observers = new CopyOnWriteArrayList<>();
  private volatile Declared declared = new Declared(Map.of(), Set.of());

  private record Declared(Map<String, Map<String, String>> clusters, Set<String> checks) {}

  /** Whose quota a Workload holds. */
  public sealed interface Home {

    /** This cluster's, under this name. */
    record Here(String cluster) implements Home {}

    /** That of others. */
    record Elsewhere() implements Home {}

    /** Some of both, of these flavors. */
    record Mixed(Set<String> flavors) implements Home {}
  }

  /** Nowhere yet. */
  public LocalWorkers(World world) {
    this.world = world;
  }

  /** Has this run whenever what is declared is another. */
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
      observers.forEach(Runnable::run);
    }
  }

  /** Whether this is a name of this cluster. */
  public boolean isHere(String cluster) {
    return declared.clusters().containsKey(cluster);
  }

  /** Whether jobs of this LocalQueue may run here as well as in other clusters. */
  public boolean mayRunHere(String namespace, String queue) {
    Set<String> checks = declared.checks();
    return !checks.isEmpty()
        && world
            .localQueues()
            .find(namespace, queue)
            .flatMap(found -> Optional.ofNullable(found.getSpec()))
            .flatMap(spec -> Optional.ofNullable(spec.clusterQueue()))
            .flatMap(world.clusterQueues()::find)
            .filter(
                found -> ClusterQueues.admissionChecks(found).stream().anyMatch(checks::contains))
            .isPresent();
  }

  /**
   * The names of this cluster whose quota a Workload must not get: it can't run here, or isn't
   * allowed to.
   */
  public Set<String> avoidedBy(Workload workload) {
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
  public static boolean isMarked(Workload workload) {
    return "true".equals(workload.annotations().get(LocalWorker.MAY_RUN_HERE));
  }

  /** Whose quota a Workload holds, by the flavors that it was given. */
  public Home home(Workload workload) {
    Set<String> flavors =
        workload.status().admission().stream()
            .flatMap(admission -> admission.podSetAssignments().stream())
            .flatMap(podSet -> podSet.flavors().values().stream())
            .collect(Collectors.toSet());
    Set<Optional<String>> clusters =
        flavors.stream().map(this::clusterOf).collect(Collectors.toSet());
    if (clusters.size() > 1) {
      return new Home.Mixed(flavors);
    }
    return clusters.stream()
        .flatMap(Optional::stream)
        .<Home>map(Home.Here::new)
        .findFirst()
        .orElseGet(Home.Elsewhere::new);
  }

  private Optional<String> clusterOf(String flavor) {
    return world
        .flavors()
        .find(flavor)
        .map(found -> found.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(LocalWorker.FLAVOR))
        .filter(this::isHere);
  }
}
