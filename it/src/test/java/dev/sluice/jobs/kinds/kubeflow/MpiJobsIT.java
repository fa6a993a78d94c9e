package dev.sluice.jobs.kinds.kubeflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds.PlayedMpiJob;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * MPIJobs in a queue of a real control plane; their operator is played. Jobs are managed, too: that
 * of the launcher belongs to its MPIJob.
 */
@OperatorTest(configuration = "integrations: {frameworks: [batch/job, kubeflow.org/mpijob]}")
@Tag(BuildBreadth.NIGHTLY)
class MpiJobsIT {

  private static final String MPI = "kubeflow.org/v2beta1/MPIJob";
  private static final String LAUNCHER = "/spec/mpiReplicaSpecs/Launcher/template";
  private static final String WORKER = "/spec/mpiReplicaSpecs/Worker/template";

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
    PlayedDefinitions.install(own.client(), new PlayedMpiJob().kind());
  }

  /** A launcher and two workers, each of which asks for one CPU. */
  private void submit(String name, String launcher) {
    cluster.applyText(
        """
        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          runLauncherAsWorker: true
          runPolicy: {cleanPodPolicy: Running}
          mpiReplicaSpecs:
            Launcher:
              restartPolicy: Never
              template:
                metadata: {annotations: {%s}}
                spec:
                  containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
            Worker:
              replicas: 2
              template:
                spec:
                  containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, launcher));
  }

  @Test
  void aJobFromItsCreationToItsEnd() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedMpiJob())) {
      api.givenQueues(2);
      submit("mpi", "sluice.dev/run-for: 60m");
      String workload = api.workloadOf(MPI, "mpi");
      JsonNode created = api.get(MPI, "mpi");
      assertThat(created.at("/spec/runPolicy/suspend").asBoolean()).isTrue();
      assertThat(created.at(WORKER + "/metadata/annotations").toString())
          .isEqualTo("{\"kueue.x-k8s.io/pod-index-offset\":\"1\"}");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      JsonNode podSets = api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets");
      assertThat(podSets.at("/0/name").asText()).isEqualTo("launcher");
      assertThat(podSets.at("/1/name").asText()).isEqualTo("worker");
      assertThat(podSets.at("/1/count").asInt()).isEqualTo(2);
      assertThat(api.pods()).isEmpty();

      api.setQuota(3);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
      JsonNode started = api.get(MPI, "mpi");
      assertThat(started.at(LAUNCHER + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
      assertThat(started.at(WORKER + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
      assertThat(started.at(WORKER + "/spec/tolerations/0/key").asText()).isEqualTo("spot");
      assertThat(api.pods())
          .hasSize(3)
          .allSatisfy(
              pod -> assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot"));
      assertThat(api.workloads()).hasSize(1);

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(MPI, "mpi").at("/spec")).isEqualTo(created.at("/spec"));

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
      api.endPodsUntilFinished(workload);
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("MPIJob mpi is successfully completed.");
      assertThat(api.workloads()).hasSize(1);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }

  @Test
  void aJobWhoseLauncherFailsHasFailed() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedMpiJob())) {
      api.givenQueues(3);
      submit("mpi", "sluice.dev/run-for: 1s, sluice.dev/exit-code: '3'");
      String workload = api.workloadOf(MPI, "mpi");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Finished", "True");
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("MPIJob mpi is failed.");
      assertThat(api.get(QueuedJobs.WORKLOAD, workload).at("/status/conditions").toString())
          .contains("\"reason\":\"Failed\"");
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }
}
