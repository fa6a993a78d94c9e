package dev.sluice.jobs.kinds.kubeflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds.PlayedTrainingJob;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs of the training operator in a queue of a real control plane; the operator is played. */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [kubeflow.org/pytorchjob, kubeflow.org/tfjob,"
            + " kubeflow.org/xgboostjob, kubeflow.org/paddlejob, kubeflow.org/jaxjob]}")
@Tag(BuildBreadth.NIGHTLY)
class TrainingJobsIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
  }

  static Stream<Arguments> kinds() {
    return Stream.of(
        Arguments.of(TrainingJob.pyTorch(), List.of("Master", "Worker")),
        Arguments.of(
            TrainingJob.tensorFlow(), List.of("Chief", "Master", "PS", "Worker", "Evaluator")),
        Arguments.of(TrainingJob.xgBoost(), List.of("Master", "Worker")),
        Arguments.of(TrainingJob.paddle(), List.of("Master", "Worker")),
        Arguments.of(TrainingJob.jax(), List.of("Worker")));
  }

  private static String kind(TrainingJob kind) {
    return kind.kind().apiVersion() + "/" + kind.kind().kind();
  }

  private static String template(TrainingJob kind, String type) {
    return "/spec/" + kind.replicasField() + "/" + type + "/template";
  }

  /** A pod of each type, each of which asks for one CPU. */
  private void submit(
      TrainingJob kind, List<String> types, String name, String metadata, String annotations) {
    StringBuilder replicas = new StringBuilder();
    for (String type : types) {
      replicas.append(
          """
              %s:
                restartPolicy: Never
                template:
                  metadata: {labels: {app: a}, annotations: {%s}}
                  spec:
                    nodeSelector: {kubernetes.io/os: linux}
                    containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(type, annotations)
              .indent(4));
    }
    cluster.applyText(
        """
        apiVersion: kubeflow.org/v1
        kind: %s
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq%s}}
        spec:
          %s:
        %s
        """
            .formatted(
                kind.kind().kind(), name, metadata, kind.replicasField(), replicas.toString()));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aJobFromItsCreationToItsEnd(TrainingJob kind, List<String> types) {
    PlayedDefinitions.install(cluster.client(), kind.kind());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedTrainingJob(kind))) {
      api.givenQueues(types.size() - 1);
      submit(kind, types, "train", "", "sluice.dev/run-for: 60m");
      String workload = api.workloadOf(kind(kind), "train");
      JsonNode created = api.get(kind(kind), "train");
      assertThat(created.at("/spec/runPolicy/suspend").asBoolean()).isTrue();
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(
              api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets").findValuesAsText("name"))
          .containsSubsequence(types.stream().map(type -> type.toLowerCase(Locale.ROOT)).toList());
      assertThat(api.pods()).isEmpty();

      api.setQuota(types.size());
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
      JsonNode started = api.get(kind(kind), "train");
      for (String type : types) {
        JsonNode template = started.at(template(kind, type));
        assertThat(template.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
        assertThat(template.at("/spec/tolerations/0/key").asText()).isEqualTo("spot");
        assertThat(template.at("/metadata/labels/kueue.x-k8s.io~1podset").asText())
            .isEqualTo(type.toLowerCase(Locale.ROOT));
      }
      assertThat(api.pods())
          .hasSize(types.size())
          .allSatisfy(
              pod -> assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot"));

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(kind(kind), "train").at("/spec")).isEqualTo(created.at("/spec"));

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
      api.endPodsUntilFinished(workload);
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo(kind.kind().kind() + " train is successfully completed.");
      assertThat(api.workloads()).hasSize(1);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }

  @Test
  void aPreemptedJobWaitsAndAFailedOneEndsItsWorkload() {
    TrainingJob kind = TrainingJob.pyTorch();
    List<String> types = List.of("Master", "Worker");
    PlayedDefinitions.install(cluster.client(), kind.kind());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedTrainingJob(kind))) {
      api.givenQueues(2);
      submit(kind, types, "low", "", "sluice.dev/run-for: 10m");
      String low = api.workloadOf(kind(kind), "low");
      api.awaitCondition(QueuedJobs.WORKLOAD, low, "PodsReady", "True");

      submit(
          kind,
          types,
          "high",
          ", kueue.x-k8s.io/priority-class: " + cluster.name("high"),
          "sluice.dev/run-for: 1s, sluice.dev/exit-code: '3'");
      String high = api.workloadOf(kind(kind), "high");
      api.awaitCondition(QueuedJobs.WORKLOAD, low, "Preempted", "True");
      api.awaitCondition(QueuedJobs.WORKLOAD, high, "Finished", "True");
      assertThat(api.message(QueuedJobs.WORKLOAD, high, "Finished"))
          .startsWith("PyTorchJob high is failed because ");
      assertThat(api.get(QueuedJobs.WORKLOAD, high).at("/status/conditions").toString())
          .contains("\"reason\":\"Failed\"");

      api.awaitCondition(QueuedJobs.WORKLOAD, low, "PodsReady", "True");
      api.delete(kind(kind), "low");
      api.awaitGone(QueuedJobs.WORKLOAD, low);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }
}
