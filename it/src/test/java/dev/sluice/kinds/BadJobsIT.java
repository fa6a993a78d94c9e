package dev.sluice.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Jobs that can't run as they are written: users are told which field, nothing of the jobs runs,
 * and nothing is left of them.
 */
@OperatorTest(configuration = EveryKindIT.FRAMEWORKS)
class BadJobsIT {

  private static final String SET = "jobset.x-k8s.io/v1alpha2/JobSet";
  private static final String JOB = "batch/v1/Job";

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    PlayedDefinitions.install(own.client(), new PlayedJobSet());
    api.givenQueues(1);
  }

  private void submitSet(String name, String job) {
    cluster.applyText(
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: {replicatedJobs: [{name: workers, %s}]}
        """
            .formatted(name, job));
  }

  private void submitJob(String name, String queue) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 30m}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, queue));
  }

  private void awaitNothingLeft() {
    await("nothing left")
        .untilAsserted(
            () -> {
              assertThat(api.workloads()).isEmpty();
              assertThat(api.pods()).isEmpty();
            });
    api.awaitUsage("0");
  }

  @Test
  void theirFieldsAreNamedAndTheyStaySuspended() {
    submitSet("no-template", "template: {spec: {parallelism: 1}}");
    submitSet(
        "overflow",
        """
        replicas: 100000, template: {spec: {parallelism: 100000, completions: 100000, template: {spec: {
          containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}}}\
        """);

    String failed = api.workloadOf(SET, "no-template");
    api.awaitCondition(QueuedJobs.WORKLOAD, failed, "Finished", "True");
    assertThat(api.message(QueuedJobs.WORKLOAD, failed, "Finished"))
        .contains("no template of pod set workers");
    String overflow = api.workloadOf(SET, "overflow");
    api.awaitCondition(QueuedJobs.WORKLOAD, overflow, "QuotaReserved", "False");
    assertThat(api.message(QueuedJobs.WORKLOAD, overflow, "QuotaReserved"))
        .contains("pod set workers", "cpu: " + Integer.MAX_VALUE + " requested");
    assertThat(api.workloads()).hasSize(2);
    assertThat(api.pods()).isEmpty();
    for (String name : List.of("no-template", "overflow")) {
      JsonNode set = api.get(SET, name);
      assertThat(set.at("/spec/suspend").asBoolean()).as(name).isTrue();
      api.delete(SET, name);
    }
    awaitNothingLeft();
  }

  @Test
  void anUnknownQueueIsNamedAndMayAppearAndIsKeptByAJobThatRuns() {
    submitJob("early", "nowhere");
    String workload = api.workloadOf(JOB, "early");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
    assertThat(api.message(QueuedJobs.WORKLOAD, workload, "QuotaReserved"))
        .contains("LocalQueue nowhere doesn't exist");

    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: nowhere}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    await("its pod").untilAsserted(() -> assertThat(api.pods()).hasSize(1));
    assertThatThrownBy(
            () ->
                api.patch(
                    JOB, "early", "{'metadata': {'labels': {'kueue.x-k8s.io/queue-name': 'lq'}}}"))
        .hasMessageContaining(
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"lq\": field is immutable");
    assertThat(api.pods()).hasSize(1);

    api.delete(JOB, "early");
    awaitNothingLeft();
  }

  /** Deleted before it has a Workload, before it is admitted, and while it starts. */
  @Test
  void aJobThatIsDeletedWhileItStartsLeavesNothing() {
    submitJob("at-once", "lq");
    api.delete(JOB, "at-once");
    submitJob("with-workload", "lq");
    api.workloadOf(JOB, "with-workload");
    api.delete(JOB, "with-workload");
    submitJob("reserved", "lq");
    api.awaitCondition(
        QueuedJobs.WORKLOAD, api.workloadOf(JOB, "reserved"), "QuotaReserved", "True");
    api.delete(JOB, "reserved");
    awaitNothingLeft();
  }
}
