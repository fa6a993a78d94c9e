package dev.sluice.jobs.kinds.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.lab.player.PlayedKinds.PlayedTrainJob;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * TrainJobs in a queue of a real control plane; the trainer and the controller of JobSets are
 * played. JobSets and Jobs are managed, too: those of a TrainJob belong to it.
 */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset,"
            + " trainer.kubeflow.org/trainjob]}")
@Tag(BuildBreadth.NIGHTLY)
class TrainJobsIT {

  private static final String TRAIN = "trainer.kubeflow.org/v1alpha1/TrainJob";

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
    PlayedDefinitions.install(own.client(), new PlayedJobSet().kind());
    PlayedDefinitions.install(own.client(), new PlayedTrainJob());
  }

  /** A runtime of one pod that prepares, and of nodes; each pod asks for one CPU. */
  private void givenRuntime(String kind, String name, String annotations) {
    cluster.applyText(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: %1$s
        metadata: {name: "%2$s"}
        spec:
          mlPolicy: {numNodes: 1}
          template:
            spec:
              replicatedJobs:
              - name: model-initializer
                template:
                  spec:
                    template:
                      metadata: {annotations: {%3$s}}
                      spec:
                        restartPolicy: Never
                        containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
              - name: node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    backoffLimit: 0
                    template:
                      metadata: {annotations: {%3$s}}
                      spec:
                        restartPolicy: Never
                        containers: [{name: node, image: none}]
        """
            .formatted(kind, name, annotations));
  }

  private void submit(String kind, String runtime) {
    cluster.applyText(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          runtimeRef: {kind: %s, name: "%s"}
          trainer: {numNodes: 2, resourcesPerNode: {requests: {cpu: "1"}}}
        """
            .formatted(kind, runtime));
  }

  @Test
  void aJobWaitsForItsRuntimeRunsStopsAndRunsToItsEnd() {
    try (KindPlayer sets = new KindPlayer(cluster.client(), new PlayedJobSet());
        KindPlayer player = new KindPlayer(cluster.client(), new PlayedTrainJob())) {
      api.givenQueues(2);
      submit("TrainingRuntime", "own");
      await("an event about the runtime")
          .atMost(Duration.ofMinutes(3))
          .untilAsserted(
              () ->
                  assertThat(cluster.events())
                      .anySatisfy(
                          event -> {
                            assertThat(event.getReason()).isEqualTo("ErrWorkloadCompose");
                            assertThat(event.getNote())
                                .isEqualTo("TrainingRuntime \"own\" does not exist");
                          }));
      assertThat(api.workloads()).isEmpty();
      JsonNode created = api.get(TRAIN, "train");
      assertThat(created.at("/spec/suspend").asBoolean()).isTrue();
      assertThat(created.at("/spec/runtimePatches").toString())
          .isEqualTo("[{\"manager\":\"kueue.x-k8s.io/manager\"}]");

      givenRuntime("TrainingRuntime", "own", "sluice.dev/run-for: 60m");
      String workload = api.workloadOf(TRAIN, "train");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      JsonNode podSets = api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets");
      assertThat(podSets.at("/0/name").asText()).isEqualTo("model-initializer");
      assertThat(podSets.at("/1/name").asText()).isEqualTo("node");
      assertThat(podSets.at("/1/count").asInt()).isEqualTo(2);
      assertThat(api.pods()).isEmpty();

      api.setQuota(3);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
      assertThat(api.pods())
          .hasSize(3)
          .allSatisfy(
              pod -> {
                assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
                assertThat(pod.at("/spec/tolerations").toString()).contains("\"key\":\"spot\"");
                assertThat(pod.at("/metadata/labels/kueue.x-k8s.io~1podset").asText()).isNotEmpty();
              });
      assertThat(api.workloads()).hasSize(1);

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(TRAIN, "train").at("/spec")).isEqualTo(created.at("/spec"));

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
      api.endPodsUntilFinished(workload);
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("jobset completed successfully");
      assertThat(api.workloads()).hasSize(1);
      api.awaitUsage("0");
      assertThat(player).isNotEqualTo(sets);
    }
  }

  @Test
  void aRuntimeOfTheClusterWhosePodsFailFailsTheJob() {
    try (KindPlayer sets = new KindPlayer(cluster.client(), new PlayedJobSet());
        KindPlayer player = new KindPlayer(cluster.client(), new PlayedTrainJob())) {
      api.givenQueues(3);
      String runtime = cluster.name("shared");
      givenRuntime(
          "ClusterTrainingRuntime", runtime, "sluice.dev/run-for: 1s, sluice.dev/exit-code: '3'");
      submit("ClusterTrainingRuntime", runtime);
      String workload = api.workloadOf(TRAIN, "train");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Finished", "True");
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("jobset failed due to one or more job failures");
      api.awaitUsage("0");
      assertThat(player).isNotEqualTo(sets);
    }
  }
}
