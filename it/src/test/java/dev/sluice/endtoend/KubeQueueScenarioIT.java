package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.KubeQueueScenario;
import dev.sluice.lab.demo.PolicyTrial;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The story of {@code sluice demo kube-queue}, which takes some minutes. */
@ControlPlaneTest(exclusive = true)
@Tag("faults")
@Tag("scenario")
class KubeQueueScenarioIT {

  @Test
  void everyExpectationHolds(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    InstantSource clock = InstantSource.system();
    FakeNodes.of(NodeGroup.plentiful("tree", 2)).forEach(node -> client.resource(node).create());
    // with other ports the definitions would change, and watches of their objects end
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom());
    PolicyTrial trial = new PolicyTrial();
    try (WatchRecorder recorder =
        new WatchRecorder(client, clock, change -> trial.see(change, clock.instant()))) {
      KubeQueueScenario scenario =
          new KubeQueueScenario(
              client,
              recorder,
              trial,
              new LoggedProgress(),
              configuration ->
                  LocalOperator.start(
                          "operator-of-tree", cluster.kubeconfig(), settings.with(configuration))
                      ::close);

      List<ExpectationResult> results = scenario.tell();

      assertThat(results)
          .allSatisfy(result -> assertThat(result.held()).as("%s", result).isTrue())
          .extracting(ExpectationResult::expectation)
          .containsExactly(KubeQueueScenario.Point.values());
      assertThat(scenario.figures()).isPresent();
    }
  }
}
