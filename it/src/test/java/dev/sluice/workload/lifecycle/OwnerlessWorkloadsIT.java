package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Workloads whose owner is of a kind that nothing here handles, on a real control plane. */
@OperatorTest
@Tag(BuildBreadth.NIGHTLY)
class OwnerlessWorkloadsIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void givenQueues(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    api.givenQueues(1);
  }

  private void givenWorkload(String owner) {
    api.submit(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata:
          name: imported
          finalizers: [kueue.x-k8s.io/resource-in-use]
          ownerReferences:
          - %s
        spec:
          queueName: lq
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(owner));
  }

  /** The garbage collector can't tell whether such an owner exists, and leaves the Workload. */
  @Test
  void oneOfAKindThatIsNotServedIsFinishedAndGivesItsQueueBack() {
    givenWorkload(
        "{apiVersion: jobset.example.test/v1, kind: JobSet, name: gone, controller: true,"
            + " uid: 3f0c9f52-0000-4000-8000-000000000002}");
    api.awaitCondition("Workload", "imported", "Finished", "True OwnerNotFound");
    api.awaitField("Workload", "imported", "/metadata/finalizers/0", "");

    api.submit("next", 1);
    api.awaitRunning("next", 1);
    api.delete("Job", "next");
    api.delete("ClusterQueue", cluster.name("cq"));
    api.awaitGone("ClusterQueue", cluster.name("cq"));
    api.delete("ResourceFlavor", cluster.name("flavor"));
    api.awaitGone("ResourceFlavor", cluster.name("flavor"));
  }

  /** Admitted, and owned by an object of a kind whose jobs nobody here runs. */
  private void givenForeignWorkload() {
    String uid =
        cluster
            .applyText(
                """
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: owner, namespace: "${namespace}"}
                """)
            .getFirst()
            .getMetadata()
            .getUid();
    givenWorkload(
        "{apiVersion: v1, kind: ServiceAccount, name: owner, controller: true, uid: %s}"
            .formatted(uid));
    api.awaitCondition("Workload", "imported", "Admitted", "True Admitted");
  }

  /** Nobody would stop its pods, so that its quota would never come back. */
  @Test
  void oneWhoseOwnerNobodyHereRunsIsNeitherPreemptedNorDrained() {
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'preemption': {'withinClusterQueue': 'LowerPriority'}, 'resourceGroups':"
            + " [{'coveredResources': ['cpu'], 'flavors': [{'name': '"
            + cluster.name("flavor")
            + "', 'resources': [{'name': 'cpu', 'nominalQuota': '2'}]}]}]}}");
    givenForeignWorkload();
    api.submit("own", 1);
    String own = api.awaitRunning("own", 1);
    api.submit(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        ---
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          namespace: "${namespace}"
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: "urgent-${suffix}"}
        spec:
          parallelism: 2
          completions: 2
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    api.awaitMessage(api.workloadOf("urgent"), "QuotaReserved", "whose pods nobody would stop");
    assertThat(api.condition("Workload", own, "Evicted")).isEqualTo("absent");

    api.patch("ClusterQueue", cluster.name("cq"), "{'spec': {'stopPolicy': 'HoldAndDrain'}}");

    api.awaitCondition("Workload", own, "Requeued", "False ClusterQueueStopped");
    assertThat(api.condition("Workload", "imported", "Evicted")).isEqualTo("absent");
    assertThat(api.condition("Workload", "imported", "Admitted")).isEqualTo("True Admitted");
    api.awaitUsage("1");
  }

  @Test
  void oneWhoseOwnerOfAnotherKindIsDeletedIsGoneWithIt() {
    givenForeignWorkload();
    assertThat(api.condition("Workload", "imported", "Finished")).isEqualTo("absent");

    cluster.client().serviceAccounts().inNamespace(cluster.namespace()).withName("owner").delete();

    api.awaitGone("Workload", "imported");
    api.submit("next", 1);
    api.awaitRunning("next", 1);
  }
}
