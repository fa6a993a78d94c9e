package dev.sluice.checks.multikueue;

import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.KubeConfig;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.MultiKueueConfigSpec;
import dev.sluice.checks.multikueue.sync.ClusterSelector;
import dev.sluice.kube.reconcile.ObservableItemStore;
import dev.sluice.queues.cache.LocalClusters;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/** Which clusters checks choose from, and which of them is this one. Usable from any thread. */
final class ClusterSelection implements ClusterSelector {

  private final ObservableItemStore<MultiKueueCluster> clusters;
  private final ObservableItemStore<MultiKueueConfig> configs;
  private final ObservableItemStore<AdmissionCheck> checks;
  private final LocalClusters localClusters;
  private final ReentrantLock declaring = new ReentrantLock();

  ClusterSelection(
      ObservableItemStore<MultiKueueCluster> clusters,
      ObservableItemStore<MultiKueueConfig> configs,
      ObservableItemStore<AdmissionCheck> checks,
      LocalClusters localClusters) {
    this.clusters = clusters;
    this.configs = configs;
    this.checks = checks;
    this.localClusters = localClusters;
  }

  /** The config of a check of this room's; empty if the check is another's, or none. */
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
  public Map<String, String> labels(String cluster) {
    return clusters.find(cluster).map(ClusterSelection::labels).orElse(Map.of());
  }

  static Map<String, String> labels(MultiKueueCluster cluster) {
    Map<String, String> labels = cluster.getMetadata().getLabels();
    return labels == null ? Map.of() : labels;
  }

  /** Tells where this cluster is a worker of its own. */
  void declare() {
    declaring.lock();
    try {
      declareNow();
    } finally {
      declaring.unlock();
    }
  }

  private void declareNow() {
    Map<String, Map<String, String>> here =
        clusters.all().stream()
            .filter(ClusterSelection::isManager)
            .collect(
                Collectors.toMap(
                    cluster -> cluster.getMetadata().getName(), ClusterSelection::labels));
    localClusters.declare(
        here,
        checks.all().stream()
            .map(check -> check.getMetadata().getName())
            .filter(name -> of(name).orElse(List.of()).stream().anyMatch(here::containsKey))
            .collect(Collectors.toSet()));
  }

  private static boolean isManager(MultiKueueCluster cluster) {
    KubeConfig kubeConfig =
        cluster.getSpec() == null ? null : cluster.getSpec().clusterSource().kubeConfig();
    return kubeConfig != null && kubeConfig.location().equals(LocalClusterAnnotations.LOCATION);
  }
}
