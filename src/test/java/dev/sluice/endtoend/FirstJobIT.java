package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeTaint;
import dev.sluice.lab.demo.DemoEnvironment;
import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.FirstJobExpectation;
import dev.sluice.lab.demo.FirstJobScenario;
import dev.sluice.lab.demo.ProgressListener;
import dev.sluice.lab.demo.ScenarioManifests;
import dev.sluice.lab.demo.ScenarioObjects;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.LocalOperator;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The story of the first Job, in every version of the API and with both forms of the queue name.
 */
class FirstJobIT {

  /** Each version on a control plane of its own, because the story has fixed names. */
  @ParameterizedTest
  @EnumSource(ScenarioManifests.Version.class)
  void everyExpectationHolds(ScenarioManifests.Version version) {
    try (AdditionalControlPlane plane = AdditionalControlPlane.start("first-job");
        LocalOperator _ = LocalOperator.start("first-job", plane.controlPlane().kubeconfig(), "")) {
      Stream.of(
              NodeGroup.plentiful("ondemand", 1).withLabel("instance-type", "ondemand"),
              NodeGroup.plentiful("spot", 2)
                  .withLabel("instance-type", "spot")
                  .withTaint(new NodeTaint("spot", "true", "NoSchedule")))
          .flatMap(group -> FakeNodes.of(group).stream())
          .forEach(node -> plane.client().resource(node).create());
      for (ScenarioManifests.Form form : ScenarioManifests.Form.values()) {
        tell(new ScenarioManifests(version, form), plane.client());
      }
    }
  }

  private static void tell(ScenarioManifests manifests, KubernetesClient client) {
    try (WatchRecorder recorder = new WatchRecorder(client, InstantSource.system()).start()) {
      List<ExpectationResult> expectationResults =
          new FirstJobScenario(
                  client, manifests, new DemoEnvironment.Own(client, false), recorder, new Silent())
              .tell();

      assertThat(expectationResults)
          .allSatisfy(
              expectationResult ->
                  assertThat(expectationResult.held())
                      .as("%s: %s", manifests, expectationResult)
                      .isTrue());
      assertThat(expectationResults)
          .extracting(ExpectationResult::expectation)
          .containsExactlyInAnyOrder(FirstJobExpectation.values());
    } finally {
      ScenarioObjects objects = new ScenarioObjects(client);
      objects.delete();
      await("the end of what the story made: queues and flavors are let go")
          .atMost(Duration.ofMinutes(1))
          .until(() -> objects.existing().isEmpty());
    }
  }

  /** Nobody reads along. */
  private static final class Silent implements ProgressListener {
    @Override
    public void say(String line) {
      // the verdicts say it all
    }

    @Override
    public void judged(ExpectationResult expectationResult) {
      // returned as well
    }
  }
}
