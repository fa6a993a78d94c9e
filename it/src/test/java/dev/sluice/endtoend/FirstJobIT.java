package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.FirstJobScenario;
import dev.sluice.lab.demo.FirstJobScenario.DemoEnvironment;
import dev.sluice.lab.demo.FirstJobScenario.FirstJobExpectation;
import dev.sluice.lab.demo.FirstJobScenario.ScenarioObjects;
import dev.sluice.lab.demo.ProgressListener;
import dev.sluice.lab.demo.ScenarioManifests;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The story of the first Job, in every version of the API and with both forms of the queue name;
 * the nightly build tells it with each form in each version.
 */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1) // long ones begin early
@Tag("scenario")
class FirstJobIT {

  @SuppressWarnings("NullAway.Init") // made before all tests
  private LocalOperator operator;

  @SuppressWarnings("NullAway.Init")
  private KubernetesClient client;

  @BeforeAll
  void startOperator(TestCluster cluster) {
    client = cluster.client();
    Stream.of(
            NodeGroup.plentiful("ondemand", 1).withLabel("instance-type", "ondemand"),
            NodeGroup.plentiful("spot", 2)
                .withLabel("instance-type", "spot")
                .withTaint(new NodeTaint("spot", "true", "NoSchedule")))
        .flatMap(group -> FakeNodes.of(group).stream())
        .forEach(node -> client.resource(node).create());
    operator = LocalOperator.start("operator-of-first-job", cluster.kubeconfig(), "");
  }

  @AfterAll
  void stopOperator() {
    operator.close();
  }

  static List<ScenarioManifests> manifests() {
    List<ScenarioManifests> all = new ArrayList<>();
    for (ScenarioManifests.Version version : ScenarioManifests.Version.values()) {
      for (ScenarioManifests.Form form : ScenarioManifests.Form.values()) {
        all.add(new ScenarioManifests(version, form));
      }
    }
    // the oldest way to write them, and today's
    return BuildBreadth.choose(all, List.of(all.getFirst(), all.getLast()));
  }

  @ParameterizedTest
  @MethodSource("manifests")
  void everyExpectationHolds(ScenarioManifests manifests) {
    try (WatchRecorder recorder = new WatchRecorder(client, InstantSource.system()).start()) {
      List<ExpectationResult> expectationResults =
          new FirstJobScenario(
                  client, manifests, new DemoEnvironment.Own(client, false), recorder, new Silent())
              .tell();

      assertThat(expectationResults)
          .allSatisfy(
              expectationResult ->
                  assertThat(expectationResult.held()).as("%s", expectationResult).isTrue());
      assertThat(expectationResults)
          .extracting(ExpectationResult::expectation)
          .containsExactlyInAnyOrder(FirstJobExpectation.values());
    } finally {
      endJobs();
      ScenarioObjects objects = new ScenarioObjects(client);
      objects.delete();
      await("the end of what the story made: queues and flavors are let go")
          .atMost(Duration.ofMinutes(5))
          .until(() -> objects.existing().isEmpty());
    }
  }

  /** A namespace that is deleted with pods in it that run ends 16 seconds later. */
  private void endJobs() {
    String namespace = FirstJobScenario.NAMESPACE;
    client
        .batch()
        .v1()
        .jobs()
        .inNamespace(namespace)
        .withPropagationPolicy(DeletionPropagation.BACKGROUND)
        .delete();
    await("the end of what ran")
        .atMost(Duration.ofMinutes(5))
        .until(() -> client.pods().inNamespace(namespace).list().getItems().isEmpty());
  }

  /** Nobody reads along. */
  private static final class Silent implements ProgressListener {
    @Override
    public void say(String line) {
      // the verdicts say it all
    }

    @Override
    public void waits(String what) {}

    @Override
    public void judged(ExpectationResult expectationResult) {
      // returned as well
    }
  }
}
