package dev.sluice.jobs.kinds.statefulset;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deployments in a queue, told through the API of a real control plane. */
@OperatorTest(configuration = "integrations: {frameworks: [deployment]}")
@Tag(BuildBreadth.NIGHTLY)
class DeploymentIT {

  private ServingApi api;

  @BeforeEach
  void look(TestCluster own) {
    api = new ServingApi(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", own.name("").substring(1)));
  }

  @Test
  void everyPodIsAJobOfItsOwnAndItIsScaledFreely() {
    api.givenQueues(2);
    api.serve("Deployment", "web", 3, "");

    api.awaitPods(Map.of("Running", 2, "Gated", 1));
    List<JsonNode> workloads = api.all("Workload");
    assertThat(workloads)
        .hasSize(3)
        .allSatisfy(
            it -> {
              assertThat(it.at("/metadata/ownerReferences/0/kind").asText()).isEqualTo("Pod");
              assertThat(it.at("/spec/podSets/0/count").asInt()).isEqualTo(1);
              assertThat(it.at("/spec/queueName").asText()).isEqualTo("lq");
            });
    assertThat(api.all("Pod"))
        .allSatisfy(
            it -> {
              assertThat(it.at("/metadata/annotations/kueue.x-k8s.io~1pod-suspending-parent"))
                  .hasToString("\"deployment\"");
              assertThat(it.at("/metadata/finalizers").isEmpty()).isTrue();
            });

    api.patch("Deployment", "web", "{'spec':{'replicas':4}}");
    api.awaitPods(Map.of("Running", 2, "Gated", 2));
    api.setQuota(4);
    api.awaitPods(Map.of("Running", 4));
    api.awaitUsage("4");

    api.patch("Deployment", "web", "{'spec':{'replicas':1}}");
    api.awaitPods(Map.of("Running", 1));
    api.awaitUsage("1");
    assertThat(api.workload().at("/metadata/name").asText()).startsWith("pod-web-");

    api.delete("Deployment", "web");
    api.awaitPods(Map.of());
    ServingApi.soon("no Workload").untilAsserted(() -> assertThat(api.all("Workload")).isEmpty());
    api.awaitUsage("0");
  }

  @Test
  void aRolloutGoesThroughTheQueue() {
    api.givenQueues(3);
    api.serve("Deployment", "web", 2, "");
    api.awaitPods(Map.of("Running", 2));

    api.patch(
        "Deployment", "web", "{'spec':{'template':{'metadata':{'annotations':{'version':'2'}}}}}");

    ServingApi.soon("the rollout")
        .untilAsserted(
            () -> {
              assertThat(api.pods()).isEqualTo(Map.of("Running", 2));
              assertThat(api.all("Pod"))
                  .allSatisfy(
                      it ->
                          assertThat(it.at("/metadata/annotations/version").asText())
                              .isEqualTo("2"));
            });
    api.awaitUsage("2");
  }
}
