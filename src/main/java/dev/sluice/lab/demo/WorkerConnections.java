package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.time.Duration;
import java.util.Optional;

/** Whether the manager says that all its workers are connected. */
final class WorkerConnections {

  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final ResourceDefinitionContext KIND =
      new ResourceDefinitionContext.Builder()
          .withGroup("kueue.x-k8s.io")
          .withVersion("v1beta2")
          .withKind("MultiKueueCluster")
          .withPlural("multikueueclusters")
          .withNamespaced(false)
          .build();

  private final ScenarioClusters clusters;
  private final ObjectMapper json = new ObjectMapper();

  WorkerConnections(ScenarioClusters clusters) {
    this.clusters = clusters;
  }

  /**
   * Waits until they are.
   *
   * @throws ScenarioException when they aren't after a long while
   */
  void await() {
    boolean connected =
        clusters
            .manager()
            .recorder()
            .await(PATIENCE, () -> allConnected() ? Optional.of(true) : Optional.empty())
            .isPresent();
    if (!connected) {
      throw new ScenarioException(
          "the manager is not connected to its workers after %d s".formatted(PATIENCE.toSeconds()));
    }
  }

  private boolean allConnected() {
    return clusters.manager().client().genericKubernetesResources(KIND).list().getItems().stream()
            .filter(each -> ScenarioClusters.isTrue(json.valueToTree(each), "Active"))
            .count()
        == clusters.workers().size();
  }
}
