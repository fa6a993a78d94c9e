package dev.sluice.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A job that asks for PodGroups starts without, where the API server serves none. */
@OperatorTest(
    configuration =
        """
        integrations: {frameworks: [batch/job]}
        featureGates: {WASPodGroups: true}
        """)
@Tag(BuildBreadth.NIGHTLY)
class PodGroupsNotServedIT {

  private static final String JOB = "batch/v1/Job";

  @Test
  void theJobStartsWithoutAndSaysSo(TestCluster cluster) {
    QueuedJobs jobs = new QueuedJobs(cluster);
    jobs.givenQueues(10);
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: gang
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/was-podgroup: "true"}
        spec:
          parallelism: 3
          completions: 3
          template:
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """);
    await("the pods")
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(() -> assertThat(jobs.pods()).hasSize(3));
    assertThat(jobs.pods())
        .allSatisfy(
            pod -> {
              assertThat(pod.at("/metadata/annotations").has("sluice.dev/pod-group")).isFalse();
              assertThat(pod.at("/spec/schedulingGroup").isMissingNode()).isTrue();
            });
    await("the event")
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () ->
                assertThat(cluster.events())
                    .anySatisfy(
                        event -> {
                          assertThat(event.getReason()).isEqualTo("PodGroupsNotServed");
                          assertThat(event.getType()).isEqualTo("Warning");
                          assertThat(event.getRegarding().getName()).isEqualTo("gang");
                        }));
    assertThat(jobs.get(JOB, "gang").at("/spec/suspend").asBoolean()).isFalse();
  }
}
