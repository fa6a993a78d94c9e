package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.KindsScenario;
import dev.sluice.lab.demo.KindsScenario.KindsExpectation;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The story of {@code sluice demo kinds}. */
@ControlPlaneTest(exclusive = true)
@Tag("scenario")
class KindsScenarioIT {

  @Test
  void everyExpectationHolds(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    FakeNodes.of(NodeGroup.plentiful("kinds", 1)).forEach(node -> client.resource(node).create());
    try (LocalOperator operator =
            LocalOperator.start(
                "operator-of-kinds", cluster.kubeconfig(), PlayedKinds.configuration());
        PlayedKinds players = PlayedKinds.play(client);
        WatchRecorder recorder = new WatchRecorder(client, InstantSource.system()).start()) {
      assertThat(players.count()).isPositive();

      List<ExpectationResult> results =
          new KindsScenario(client, recorder, new LoggedProgress()).tell();

      assertThat(operator.isHealthy()).isTrue();
      assertThat(results)
          .allSatisfy(result -> assertThat(result.held()).as("%s", result).isTrue())
          .extracting(ExpectationResult::expectation)
          .containsExactly(KindsExpectation.values());
    } finally {
      client.namespaces().withName(KindsScenario.NAMESPACE).delete();
    }
  }
}
