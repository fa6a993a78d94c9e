package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Victims of preemption and what becomes of their jobs, on a real control plane. */
@OperatorTest
class PreemptionIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    own.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        """);
  }

  private void submitUrgent(String job, int pods) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: "urgent-${suffix}"}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, pods, pods));
  }

  @Test
  void theVictimStopsIsRestoredAndRunsAgainAfterThePreemptor() {
    api.givenQueues(2);
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'preemption': {'withinClusterQueue': 'LowerPriority'}}}");
    JsonNode submitted = api.submit("lazy", 2);
    String lazy = api.awaitRunning("lazy", 2);

    submitUrgent("urgent", 1);

    String urgent = api.awaitRunning("urgent", 1);
    api.awaitCondition("Workload", lazy, "Requeued", "True Preempted");
    assertThat(api.condition("Workload", lazy, "Evicted")).isEqualTo("True Preempted");
    assertThat(api.condition("Workload", lazy, "Preempted")).isEqualTo("True InClusterQueue");
    JsonNode victim = api.get("Workload", lazy);
    String uid = api.get("Workload", urgent).at("/metadata/uid").asText();
    String jobUid = api.get("Job", "urgent").at("/metadata/uid").asText();
    assertThat(victim.at("/status/conditions").toString())
        .contains(
            "Preempted to accommodate a workload (UID: "
                + uid
                + ", JobUID: "
                + jobUid
                + ") due to prioritization in the ClusterQueue");
    assertThat(victim.at("/status/schedulingStats/evictions/0/reason").asText())
        .isEqualTo("Preempted");
    assertThat(api.get("Job", "lazy").at("/spec/template"))
        .isEqualTo(submitted.at("/spec/template"));
    assertThat(api.get("Job", "lazy").at("/spec/suspend").asBoolean()).isTrue();
    api.awaitEvent(lazy, "Preempted");
    api.awaitEvent(lazy, "EvictedDueToPreempted");
    api.awaitEvent(urgent, "PreemptedWorkload");
    api.awaitUsage("1");

    api.delete("Job", "urgent");

    api.awaitRunning("lazy", 2);
    assertThat(api.condition("Workload", lazy, "Evicted")).isEqualTo("False QuotaReserved");
    assertThat(api.condition("Workload", lazy, "Preempted")).isEqualTo("False QuotaReserved");
  }

  @Test
  void nominalQuotaIsReclaimedFromABorrower() {
    api.givenQueues(2);
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'cohortName': '"
            + cluster.name("org")
            + "', 'preemption': {'reclaimWithinCohort': 'Any'}}}");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "borrower-${suffix}"}
        spec:
          cohortName: "org-${suffix}"
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "0"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: borrower, namespace: "${namespace}"}
        spec: {clusterQueue: "borrower-${suffix}"}
        """);
    api.awaitCondition("LocalQueue", "borrower", "Active", "True Ready");
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: guest, labels: {kueue.x-k8s.io/queue-name: borrower}}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String guest = api.awaitRunning("guest", 2);

    api.submit("host", 1);

    api.awaitRunning("host", 1);
    api.awaitCondition("Workload", guest, "Preempted", "True InCohortReclamation");
    api.awaitField("Job", "guest", "/spec/suspend", "true");
    String message = api.get("Workload", guest).at("/status/conditions").toString();
    assertThat(message)
        .contains(
            "preemptor path: /" + cluster.name("org") + "/" + cluster.name("cq"),
            "preemptee path: /" + cluster.name("org") + "/" + cluster.name("borrower"));
  }
}
