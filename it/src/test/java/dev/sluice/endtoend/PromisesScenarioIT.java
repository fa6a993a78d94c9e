package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.PolicyTrial;
import dev.sluice.lab.demo.PromisesScenario;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The story of {@code sluice demo promises}, which takes more than a minute. */
@ControlPlaneTest(exclusive = true)
@Tag("faults")
@Tag("scenario")
class PromisesScenarioIT {

  @Test
  void everyExpectationHolds(TestCluster cluster, @TempDir Path directory) {
    KubernetesClient client = cluster.client();
    InstantSource clock = InstantSource.system();
    PromisesScenario.nodes()
        .forEach(group -> FakeNodes.of(group).forEach(node -> client.resource(node).create()));
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom());
    PolicyTrial trial = new PolicyTrial();
    try (LocalOperator operator =
            LocalOperator.start("operator-of-promises", cluster.kubeconfig(), settings);
        WatchRecorder recorder =
            new WatchRecorder(client, clock, change -> trial.see(change, clock.instant()))) {
      recorder.start();
      PromisesScenario scenario =
          new PromisesScenario(
              client,
              recorder,
              trial,
              new LoggedProgress(),
              PromisesScenario.explanation(
                  client, cluster.kubeconfig(), settings.visibilityPort(), directory));

      List<ExpectationResult> results = scenario.tell();

      assertThat(results)
          .allSatisfy(result -> assertThat(result.held()).as("%s", result).isTrue())
          .extracting(ExpectationResult::expectation)
          .containsExactly(PromisesScenario.PromisesExpectation.values());
      assertThat(scenario.table()).hasSize(4);
      assertThat(operator.isHealthy()).isTrue();
    }
  }
}
