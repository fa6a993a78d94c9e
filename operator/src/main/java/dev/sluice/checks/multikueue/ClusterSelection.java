package dev.sluice.checks.multikueue;

import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueCluster.KubeConfig;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.MultiKueueConfig.MultiKueueConfigSpec;
import dev.sluice.checks.multikueue.MultiKueueControllers.MultiKueueChecks;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.ClusterSelector;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.queues.cache.LocalClusters;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Resolves the clusters of an AdmissionCheck and declares which of them is the manager itself.
 * Thread-safe.
 */
final class ClusterSelection implements ClusterSelector {

  private final ObservableItemStore<MultiKueueCluster> clusters;
  private final ObservableItemStore<MultiKueueConfig> configs;
  private final ObservableItemStore<AdmissionCheck> checks;
  private final LocalClusters localClusters;
  private final BooleanSupplier configsListed;
  private final ReentrantLock lock = new ReentrantLock();

  ClusterSelection(
      ObservableItemStore<MultiKueueCluster> clusters,
      ObservableItemStore<MultiKueueConfig> configs,
      ObservableItemStore<AdmissionCheck> checks,
      LocalClusters localClusters,
      BooleanSupplier configsListed) {
    this.clusters = clusters;
    this.configs = configs;
    this.checks = checks;
    this.localClusters = localClusters;
    this.configsListed = configsListed;
  }

  /**
   * The MultiKueueConfig of a MultiKueue check. The outer Optional is empty if the check does not
   * exist or belongs to another controller; the inner one, if the config does not exist.
   */
  Optional<Optional<MultiKueueConfig>> config(String check) {
    return checks
        .find(check)
        .filter(MultiKueueChecks::concerns)
        .map(
            found ->
                Optional.ofNullable(found.getSpec().parameters())
                    .flatMap(parameters -> configs.find(parameters.name())));
  }

  @Override
  public Optional<List<String>> of(String check) {
    return config(check)
        .map(
            config ->
                config
                    .flatMap(it -> Optional.ofNullable(it.getSpec()))
                    .map(MultiKueueConfigSpec::clusters)
                    .orElse(List.of()));
  }

  @Override
  public boolean listed() {
    return configsListed.getAsBoolean();
  }

  @Override
  public Map<String, String> labels(String cluster) {
    return clusters.find(cluster).map(ClusterSelection::labels).orElse(Map.of());
  }

  static Map<String, String> labels(MultiKueueCluster cluster) {
    Map<String, String> labels = cluster.getMetadata().getLabels();
    return labels == null ? Map.of() : labels;
  }

  /**
   * Declares to {@link LocalClusters} under which worker names the manager itself is configured.
   */
  void declare() {
    lock.lock();
    try {
      declareLocked();
    } finally {
      lock.unlock();
    }
  }

  private void declareLocked() {
    Map<String, Map<String, String>> managerNames =
        clusters.all().stream()
            .filter(ClusterSelection::isManager)
            .collect(
                Collectors.toMap(
                    cluster -> cluster.getMetadata().getName(), ClusterSelection::labels));
    localClusters.declare(
        managerNames,
        checks.all().stream()
            .map(check -> check.getMetadata().getName())
            .filter(name -> of(name).orElse(List.of()).stream().anyMatch(managerNames::containsKey))
            .collect(Collectors.toSet()));
  }

  private static boolean isManager(MultiKueueCluster cluster) {
    KubeConfig kubeConfig =
        cluster.getSpec() == null ? null : cluster.getSpec().clusterSource().kubeConfig();
    return kubeConfig != null && kubeConfig.location().equals(LocalClusterAnnotations.LOCATION);
  }
}
