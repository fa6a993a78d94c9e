package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With the gate off, objects of the kinds may be there, and change nothing. */
@OperatorTest
@Tag(BuildBreadth.NIGHTLY)
class DynamicQuotaOffIT {

  private static final String CLUSTER_QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue";
  private static final String JOB = "batch/v1/Job";

  /** Changes of 0.20, section 4: DynamicQuotaOrchestration. */
  @Test
  void quotasAreThoseOfTheSpecification(TestCluster cluster) {
    QueuedJobs jobs = new QueuedJobs(cluster);
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "any-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "any-${suffix}", resources: [{name: cpu, nominalQuota: 2}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: CapacityProvider
        metadata: {name: "cp-${suffix}"}
        spec:
          controllerName: kueue.x-k8s.io/local-capacity
          orchestratedFlavors: [{name: "any-${suffix}"}]
        ---
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: DynamicQuotaOrchestrator
        metadata: {name: "dqo-${suffix}"}
        spec:
          capacityDiscovery: {providers: [{name: "cp-${suffix}"}]}
          capacityDistribution: {subtreeRootQuotaRef: {kind: ClusterQueue, name: "cq-${suffix}"}}
        """);
    jobs.patchStatus(
        CLUSTER_QUEUE,
        cluster.name("cq"),
        "{'status': {'effectiveQuotas': {'resourceGroups': [], 'orchestratorRef':"
            + " {'apiGroup': 'example.com', 'kind': 'Any', 'name': 'any'}}}}");

    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: one, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: 1}}}]
        """);
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "one"), "Admitted", "True");

    assertThat(
            jobs.get("kueue.x-k8s.io/v1alpha1/DynamicQuotaOrchestrator", cluster.name("dqo"))
                .path("status"))
        .isEmpty();
    assertThat(
            jobs.get("kueue.x-k8s.io/v1alpha1/CapacityProvider", cluster.name("cp")).path("status"))
        .isEmpty();
    assertThat(
            jobs.get(CLUSTER_QUEUE, cluster.name("cq"))
                .at("/status/effectiveQuotas/orchestratorRef/name")
                .asText())
        .isEqualTo("any");
  }
}
