package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Preemption gates, as people and other controllers see them. */
@OperatorTest(configuration = "featureGates: {MultiKueueOrchestratedPreemption: true}\n")
@Tag(BuildBreadth.NIGHTLY)
class PreemptionGatesIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void oneRunsInAQueueOfTwo(TestCluster own) {
    cluster = own;
    api = new Api(own);
    api.givenQueues(2);
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'preemption': {'withinClusterQueue': 'LowerPriority'}}}");
    submit("lazy", 0, 2, "[]");
    api.awaitCondition("Workload", "lazy", "Admitted", "True Admitted");
  }

  private void submit(String name, int priority, int cpus, String gates) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, namespace: "${namespace}"}
        spec:
          queueName: lq
          priority: %d
          preemptionGates: %s
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(name, priority, gates, cpus));
  }

  private void setGate(String workload, String position) {
    api.patchStatus(
        "Workload",
        workload,
        "{'status': {'preemptionGates': [{'name': 'example.test', 'position': '"
            + position
            + "', 'lastTransitionTime': '2026-01-01T00:00:00Z'}]}}");
  }

  @Test
  void aClosedGateHoldsPreemptionUpUntilItIsOpened() {
    submit("urgent", 5, 2, "[{name: example.test}]");

    api.awaitField("Workload", "urgent", "/status/preemptionGates/0/position", "Closed");
    api.awaitCondition("Workload", "urgent", "BlockedOnPreemptionGates", "True PreemptionGated");
    JsonNode blocked = api.get("Workload", "urgent");
    assertThat(blocked.at("/status/preemptionGates")).hasSize(1);
    assertThat(blocked.at("/status/conditions").toString())
        .contains("its preemption gates are closed: example.test");
    assertThat(api.condition("Workload", "urgent", "QuotaReserved"))
        .isEqualTo("False WaitingForQuota");
    assertThat(api.condition("Workload", "lazy", "Evicted")).isEqualTo("absent");

    setGate("urgent", "Open");

    api.awaitCondition("Workload", "lazy", "Preempted", "True InClusterQueue");
    stop("lazy");
    api.awaitCondition("Workload", "urgent", "Admitted", "True Admitted");
    assertThat(api.condition("Workload", "urgent", "BlockedOnPreemptionGates"))
        .isEqualTo("False QuotaReserved");

    api.patch("Workload", "urgent", "{'spec': {'active': false}}");

    api.awaitCondition("Workload", "urgent", "Evicted", "True Deactivated");
    api.awaitField("Workload", "urgent", "/status/preemptionGates/0/position", "Closed");
  }

  @Test
  void nothingIsWrittenAgainWhileTheGateStaysClosed() {
    submit("urgent", 5, 2, "[{name: example.test}]");
    api.awaitCondition("Workload", "urgent", "BlockedOnPreemptionGates", "True PreemptionGated");
    api.awaitCondition("Workload", "urgent", "QuotaReserved", "False WaitingForQuota");
    String version = api.get("Workload", "urgent").at("/metadata/resourceVersion").asText();

    submit("late", 0, 3, "[]");
    api.awaitCondition("Workload", "late", "QuotaReserved", "False ExceedsMaxQuota");
    api.delete("Workload", "late");
    api.patch("ClusterQueue", cluster.name("cq"), "{'spec': {'queueingStrategy': 'StrictFIFO'}}");
    submit("later", 0, 1, "[]");
    api.awaitField("ClusterQueue", cluster.name("cq"), "/status/pendingWorkloads", "2");

    assertThat(api.get("Workload", "urgent").at("/metadata/resourceVersion").asText())
        .isEqualTo(version);
  }

  @Test
  void whoFitsIsAdmittedThroughAClosedGate() {
    api.delete("Workload", "lazy");
    submit("modest", 5, 2, "[{name: example.test}]");
    api.awaitCondition("Workload", "modest", "Admitted", "True Admitted");
    assertThat(api.condition("Workload", "modest", "BlockedOnPreemptionGates")).isEqualTo("absent");
  }

  /** Whoever runs a bare Workload stops it when it is evicted, and gives its quota back. */
  private void stop(String workload) {
    api.patchStatus(
        "Workload",
        workload,
        "{'status': {'admission': null, 'conditions': [{'type': 'QuotaReserved', 'status': 'False',"
            + " 'reason': 'PendingEvaluation', 'message': 'it has stopped',"
            + " 'lastTransitionTime': '2026-01-01T00:00:00Z'}]}}");
  }
}
