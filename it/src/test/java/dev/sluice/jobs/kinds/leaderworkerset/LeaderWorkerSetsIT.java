package dev.sluice.jobs.kinds.leaderworkerset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.lab.player.PlayedKinds.PlayedLeaderWorkerSet;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** LeaderWorkerSets in a queue of a real control plane; their own controller is played. */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [leaderworkerset.x-k8s.io/leaderworkerset,"
            + " jobset.x-k8s.io/jobset]}")
@Tag(BuildBreadth.NIGHTLY)
class LeaderWorkerSetsIT {

  private static final String SET = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet";
  private static final String INDEX =
      "/metadata/annotations/kueue.x-k8s.io~1component-workload-index";

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
    PlayedDefinitions.install(own.client(), new PlayedLeaderWorkerSet().kind());
    PlayedDefinitions.install(own.client(), new PlayedJobSet().kind());
  }

  private void serve(String name) {
    cluster.applyText(
        """
        apiVersion: leaderworkerset.x-k8s.io/v1
        kind: LeaderWorkerSet
        metadata:
          name: %1$s
          labels: {kueue.x-k8s.io/queue-name: lq}
        spec:
          replicas: 2
          leaderWorkerTemplate:
            size: 2
            leaderTemplate: %2$s
            workerTemplate: %2$s
        """
            .formatted(
                name,
                "{spec: {containers: [{name: c, image: one, resources: {requests: {cpu: \"1\"}}}]}}"));
  }

  private static String phase(JsonNode pod) {
    if (pod.at("/metadata").has("deletionTimestamp")) {
      return "Leaving";
    }
    return pod.at("/spec/schedulingGates").isEmpty() ? pod.at("/status/phase").asText() : "Gated";
  }

  private void awaitPods(Map<String, Integer> wanted) {
    await("pods")
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () -> {
              Map<String, Integer> phases = new TreeMap<>();
              api.pods().forEach(pod -> phases.merge(phase(pod), 1, Integer::sum));
              assertThat(phases).isEqualTo(new TreeMap<>(wanted));
            });
  }

  private List<JsonNode> awaitWorkloads(int count) {
    return await("Workloads")
        .atMost(Duration.ofMinutes(5))
        .until(api::workloads, found -> found.size() == count);
  }

  private String workloadOf(int group) {
    return awaitWorkloads(2).stream()
        .filter(workload -> workload.at(INDEX).asText().equals(Integer.toString(group)))
        .map(workload -> workload.at("/metadata/name").asText())
        .findFirst()
        .orElseThrow();
  }

  private List<String> uids() {
    return api.workloads().stream().map(it -> it.at("/metadata/uid").asText()).sorted().toList();
  }

  @Test
  void eachGroupStartsWithQuotaForAllOfItsPodsAndComesBackAfterAnEviction() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedLeaderWorkerSet())) {
      api.givenQueues(3);
      serve("lws");
      awaitPods(Map.of("Gated", 2, "Running", 2));
      JsonNode workload = api.get(QueuedJobs.WORKLOAD, workloadOf(0));
      assertThat(workload.at("/metadata/ownerReferences/0/kind").asText())
          .isEqualTo("LeaderWorkerSet");
      assertThat(workload.at("/spec/podSets/0/name").asText()).isEqualTo("leader");
      assertThat(workload.at("/spec/podSets/1/name").asText()).isEqualTo("worker");
      assertThat(workload.at("/spec/podSets/1/count").asInt()).isEqualTo(1);
      api.awaitUsage("2");

      api.setQuota(4);
      awaitPods(Map.of("Running", 4));
      assertThat(api.pods())
          .allSatisfy(
              pod -> {
                assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
                assertThat(pod.at("/metadata/labels/kueue.x-k8s.io~1managed").asText())
                    .isEqualTo("true");
                assertThat(
                        pod.at("/metadata/annotations/kueue.x-k8s.io~1pod-group-total-count")
                            .asText())
                    .isEqualTo("2");
              });
      api.awaitCondition(QueuedJobs.WORKLOAD, workloadOf(1), "PodsReady", "True");

      api.patch(QueuedJobs.WORKLOAD, workloadOf(0), "{'spec': {'active': false}}");
      api.awaitUsage("2");
      awaitPods(Map.of("Gated", 2, "Running", 2));
      api.patch(QueuedJobs.WORKLOAD, workloadOf(0), "{'spec': {'active': true}}");
      awaitPods(Map.of("Running", 4));

      api.delete(SET, "lws");
      awaitWorkloads(0);
      awaitPods(Map.of());
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }

  @Test
  void aRolloutKeepsTheQuotaAndScalingDownGivesItBack() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedLeaderWorkerSet())) {
      api.givenQueues(4);
      serve("lws");
      awaitPods(Map.of("Running", 4));
      List<String> before = uids();

      assertThatThrownBy(
              () ->
                  api.patch(
                      SET, "lws", "{'spec': {'leaderWorkerTemplate': {'leaderTemplate': null}}}"))
          .hasMessageContaining("leaderTemplate");
      api.patch(
          SET,
          "lws",
          "{'spec': {'leaderWorkerTemplate': {'workerTemplate': {'spec': {'containers': [{'name':"
              + " 'c', 'image': 'two', 'resources': {'requests': {'cpu': '1'}}}]}}}}}");
      await("pods of the new revision")
          .atMost(Duration.ofMinutes(5))
          .untilAsserted(
              () ->
                  assertThat(api.pods())
                      .hasSize(4)
                      .allSatisfy(pod -> assertThat(phase(pod)).isEqualTo("Running"))
                      .filteredOn(pod -> pod.at("/spec/containers/0/image").asText().equals("two"))
                      .hasSize(2));
      assertThat(uids()).isEqualTo(before);

      api.patch(SET, "lws", "{'spec': {'replicas': 1}}");
      awaitWorkloads(1);
      awaitPods(Map.of("Running", 2));
      api.awaitUsage("2");

      api.patch(SET, "lws", "{'spec': {'replicas': 2}}");
      awaitPods(Map.of("Running", 4));
      assertThat(awaitWorkloads(2)).isNotNull();
      api.awaitUsage("4");
      assertThat(player).isNotNull();
    }
  }

  /** Whoever updates it may name any queued job as its owner, and take that away again. */
  @Test
  void theShapeStaysAsLongAsThereIsQuotaWhateverOwnerItNames() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedLeaderWorkerSet())) {
      api.givenQueues(4);
      serve("lws");
      awaitPods(Map.of("Running", 4));
      cluster.applyText(
          """
          apiVersion: jobset.x-k8s.io/v1alpha2
          kind: JobSet
          metadata: {name: big, labels: {kueue.x-k8s.io/queue-name: lq}}
          spec:
            suspend: true
            replicatedJobs:
            - name: a
              replicas: 1
              template:
                spec:
                  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "99"}}}]}}
          """);
      awaitWorkloads(3);
      String uid = api.get("jobset.x-k8s.io/v1alpha2/JobSet", "big").at("/metadata/uid").asText();
      api.patch(
          SET,
          "lws",
          "{'metadata': {'ownerReferences': [{'apiVersion': 'jobset.x-k8s.io/v1alpha2', 'kind':"
              + " 'JobSet', 'name': 'big', 'uid': '%s', 'controller': true}]}}".formatted(uid));
      assertThatThrownBy(
              () ->
                  api.patch(
                      SET,
                      "lws",
                      "{'spec': {'leaderWorkerTemplate': {'workerTemplate': {'spec': {'nodeSelector':"
                          + " {'a': 'b'}}}}}}"))
          .hasMessageContaining("nodeSelector");
      assertThat(player).isNotNull();
    }
  }
}
