package dev.sluice.lab.demo;

import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.time.Duration;
import java.util.Optional;

/** Whether all workers are connected, according to the manager. */
final class WorkerConnections {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(90);
  private static final ResourceDefinitionContext KIND =
      new ResourceDefinitionContext.Builder()
          .withGroup("kueue.x-k8s.io")
          .withVersion("v1beta2")
          .withKind("MultiKueueCluster")
          .withPlural("multikueueclusters")
          .withNamespaced(false)
          .build();

  private final ScenarioClusters clusters;

  WorkerConnections(ScenarioClusters clusters) {
    this.clusters = clusters;
  }

  /**
   * Waits until all workers are connected.
   *
   * @throws ScenarioException when the time limit is exceeded
   */
  void await() {
    boolean connected =
        clusters
            .manager()
            .recorder()
            .await(CONNECT_TIMEOUT, () -> allConnected() ? Optional.of(true) : Optional.empty())
            .isPresent();
    if (!connected) {
      throw new ScenarioException(
          "the manager is not connected to its workers after %d s"
              .formatted(CONNECT_TIMEOUT.toSeconds()));
    }
  }

  private boolean allConnected() {
    return clusters.manager().client().genericKubernetesResources(KIND).list().getItems().stream()
            .filter(each -> ScenarioClusters.isTrue(JsonMappers.JSON.valueToTree(each), "Active"))
            .count()
        == clusters.workers().size();
  }
}
