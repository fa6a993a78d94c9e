package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example of docs/priorities.md, and its changes, on a real control plane. */
@OperatorTest
@Tag(BuildBreadth.NIGHTLY)
class PrioritiesIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void givenTheExample(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1));
    own.apply(PrioritiesIT.class, "three-tiers.yaml");
    api.awaitCondition("LocalQueue", "research", "Active", "True Ready");
  }

  private String submit(String job, String tier, int pods, String podFields) {
    String label =
        tier.isEmpty() ? "" : ", kueue.x-k8s.io/priority-class: '%s-${suffix}'".formatted(tier);
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: research%s}}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              %s
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, label, pods, pods, podFields));
    return api.workloadOf(job);
  }

  @Test
  void higherTiersStopLowerOnesAndChangesCountAtOnce() {
    String first = submit("first", "medium", 1, "");
    api.awaitRunning("first", 1);
    await().pollDelay(Duration.ofMillis(1100)).until(() -> true); // created in another second
    String second = submit("second", "medium", 1, "");
    api.awaitRunning("second", 1);

    String critical = submit("critical", "critical", 2, "");
    api.awaitRunning("critical", 2);
    api.awaitCondition("Workload", first, "Preempted", "True InClusterQueue");
    api.awaitCondition("Workload", second, "Preempted", "True InClusterQueue");
    String high = submit("high", "high", 1, "");
    api.awaitCondition("Workload", high, "QuotaReserved", "False WaitingForQuota");
    assertThat(api.condition("Workload", critical, "Evicted")).isEqualTo("absent");

    api.delete("Job", "critical");
    api.awaitRunning("high", 1);
    api.awaitRunning("first", 1);
    api.awaitCondition("Workload", second, "QuotaReserved", "False WaitingForQuota");

    api.patch(
        "Job",
        "second",
        "{'metadata': {'labels': {'kueue.x-k8s.io/priority-class': '%s'}}}"
            .formatted(cluster.name("high")));
    api.awaitRunning("second", 1);
    api.awaitCondition("Workload", first, "Preempted", "True InClusterQueue");

    api.patch(
        "Job",
        "high",
        "{'metadata': {'labels': {'kueue.x-k8s.io/priority-class': '%s'}}}"
            .formatted(cluster.name("medium")));
    api.awaitField("Workload", high, "/spec/priority", "10");
    submit("urgent", "critical", 1, "");
    api.awaitRunning("urgent", 1);
    api.awaitCondition("Workload", high, "Preempted", "True InClusterQueue");
    assertThat(api.condition("Workload", second, "QuotaReserved")).isEqualTo("True QuotaReserved");
  }

  @Test
  void thePriorityClassOfThePodsCountsWhereNoOtherIsNamed() {
    cluster.applyText(
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: "pods-${suffix}"}
        value: 500
        """);
    String byPods = submit("by-pods", "", 1, "priorityClassName: pods-${suffix}");
    String byLabel = submit("by-label", "medium", 1, "priorityClassName: pods-${suffix}");

    api.awaitField("Workload", byPods, "/spec/priority", "500");
    api.awaitField("Workload", byLabel, "/spec/priority", "10");
    JsonNode ref = api.get("Workload", byPods).at("/spec/priorityClassRef");
    assertThat(ref.path("kind").asText()).isEqualTo("PriorityClass");
    assertThat(ref.path("group").asText()).isEqualTo("scheduling.k8s.io");
    assertThat(ref.path("name").asText()).isEqualTo(cluster.name("pods"));
  }
}
