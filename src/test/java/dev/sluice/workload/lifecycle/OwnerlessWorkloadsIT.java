package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Workloads whose owner is of a kind that nothing here handles, on a real control plane. */
@OperatorTest
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

  @Test
  void oneWhoseOwnerOfAnotherKindIsDeletedIsGoneWithIt() {
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
    assertThat(api.condition("Workload", "imported", "Finished")).isEqualTo("absent");

    cluster.client().serviceAccounts().inNamespace(cluster.namespace()).withName("owner").delete();

    api.awaitGone("Workload", "imported");
    api.submit("next", 1);
    api.awaitRunning("next", 1);
  }
}
