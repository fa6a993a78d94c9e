package dev.sluice.jobs.kinds.jobset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * JobSets in a queue of a real control plane; their own controller is played. One method after the
 * other: one of them takes the definition away.
 */
@OperatorTest(configuration = "integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}")
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class JobSetsIT {

  private static final String SET = "jobset.x-k8s.io/v1alpha2/JobSet";
  private static final String DRIVER = "/spec/replicatedJobs/0/template/spec/template";
  private static final String WORKERS = "/spec/replicatedJobs/1/template/spec/template";

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

  /** A driver of one pod, and two workers of two pods; each pod asks for one CPU. */
  private void submit(String name, String metadata, String runFor) {
    cluster.applyText(
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata:
          name: %1$s
          labels: {kueue.x-k8s.io/queue-name: lq%2$s}
        spec:
          replicatedJobs:
          - name: driver
            template: {spec: {template: %3$s}}
          - name: workers
            replicas: 2
            template: {spec: {parallelism: 2, completions: 2, template: %3$s}}
        """
            .formatted(
                name,
                metadata,
                """
                {metadata: {labels: {app: a}, annotations: {sluice.dev/run-for: %s}}, spec:
                 {restartPolicy: Never, nodeSelector: {kubernetes.io/os: linux}, containers: [
                  {name: c, image: none, resources: {requests: {cpu: "1"}}}]}}"""
                    .formatted(runFor)
                    .replace("\n", " ")));
  }

  private void submitJob(String name) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name));
  }

  /**
   * The garbage collector deletes a Workload only if it had seen the kind of its owner before the
   * kind was removed.
   */
  private void awaitGoneOrReleased(String workload) {
    await("Workload " + workload + " gone or released")
        .atMost(Duration.ofMinutes(5))
        .until(
            () ->
                api.find(QueuedJobs.WORKLOAD, workload)
                    .filter(it -> !it.at("/metadata/finalizers").isEmpty())
                    .isEmpty());
  }

  @Test
  void theKindIsManagedFromItsInstallationToItsRemoval() {
    PlayedDefinitions.remove(cluster.client(), new PlayedJobSet().kind());
    api.givenQueues(1);
    submitJob("before");
    api.awaitCondition("batch/v1/Job", "before", "Complete", "True");

    for (String name : new String[] {"first", "second"}) {
      PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
      submit(name, "", "1s");
      String workload = api.workloadOf(SET, name);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(SET, name).at("/spec/suspend").asBoolean()).isTrue();

      PlayedDefinitions.remove(cluster.client(), new PlayedJobSet().kind());
      awaitGoneOrReleased(workload);
      submitJob("beside-" + name);
      api.awaitCondition("batch/v1/Job", "beside-" + name, "Complete", "True");
    }
  }

  @Test
  void aJobSetFromItsCreationToItsEnd() {
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedJobSet())) {
      api.givenQueues(4);
      submit("set", "", "60m");
      String workload = api.workloadOf(SET, "set");
      JsonNode created = api.get(SET, "set");
      assertThat(created.at("/spec/suspend").asBoolean()).isTrue();
      JsonNode podSets = api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets");
      assertThat(podSets.findValuesAsText("name")).contains("driver", "workers");
      assertThat(podSets.at("/1/count").asInt()).isEqualTo(4);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.pods()).isEmpty();

      api.setQuota(5);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
      JsonNode started = api.get(SET, "set");
      assertThat(started.at(DRIVER + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
      assertThat(started.at(WORKERS + "/spec/nodeSelector/pool").asText()).isEqualTo("spot");
      assertThat(started.at(WORKERS + "/spec/tolerations/0/key").asText()).isEqualTo("spot");
      assertThat(started.at(WORKERS + "/metadata/labels/kueue.x-k8s.io~1podset").asText())
          .isEqualTo("workers");
      assertThat(api.pods())
          .hasSize(5)
          .allSatisfy(pod -> assertThat(pod.at("/spec/nodeSelector/pool").asText()).isNotEmpty());
      assertThat(api.workloads()).hasSize(1);

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(SET, "set").at("/spec")).isEqualTo(created.at("/spec"));

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
      api.endPodsUntilFinished(workload);
      assertThat(api.get(SET, "set").at(DRIVER + "/spec/nodeSelector/pool").asText())
          .isEqualTo("spot");
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("jobset completed successfully");
      assertThat(api.workloads()).hasSize(1);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }

  @Test
  void aPreemptedJobSetWaitsAndADeletedOneLeavesNothing() {
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedJobSet())) {
      api.givenQueues(5);
      submit("low", "", "10m");
      String low = api.workloadOf(SET, "low");
      JsonNode spec = api.get(QueuedJobs.WORKLOAD, low).at("/spec/podSets");
      api.awaitCondition(QueuedJobs.WORKLOAD, low, "PodsReady", "True");

      submit("high", ", kueue.x-k8s.io/priority-class: " + cluster.name("high"), "10m");
      String high = api.workloadOf(SET, "high");
      api.awaitCondition(QueuedJobs.WORKLOAD, high, "PodsReady", "True");
      assertThat(api.message(QueuedJobs.WORKLOAD, low, "Preempted")).isNotEqualTo("absent");
      JsonNode restored = api.get(SET, "low");
      assertThat(restored.at("/spec/suspend").asBoolean()).isTrue();
      assertThat(restored.at(DRIVER).toString())
          .isEqualTo(restored.at(WORKERS).toString())
          .doesNotContain("pool", "podset");
      assertThat(api.get(QueuedJobs.WORKLOAD, low).at("/spec/podSets")).isEqualTo(spec);

      api.delete(SET, "low");
      api.awaitGone(QueuedJobs.WORKLOAD, low);
      api.delete(SET, "high");
      api.awaitGone(QueuedJobs.WORKLOAD, high);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }
}
