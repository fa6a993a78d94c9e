package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.provisioning.ProvisionedQueue;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;

/**
 * Plays the autoscaler behind a ProvisioningRequest check: nodes of a flavor with a topology are
 * there when the test says so, and carry a label that only what was provisioned may use.
 */
final class PlayedAutoscaler {

  private final TestCluster cluster;
  private final RackedCluster racked;

  PlayedAutoscaler(TestCluster cluster, RackedCluster racked) {
    this.cluster = cluster;
    this.racked = racked;
  }

  /** Makes LocalQueue {@code lq-new}, whose flavor has no nodes yet; its Topology exists. */
  PlayedAutoscaler withQueue() {
    ProvisionedQueue.install(cluster.client());
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ProvisioningRequestConfig
        metadata: {name: "played-${suffix}"}
        spec: {provisioningClassName: played}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "provisioning-${suffix}"}
        spec:
          controllerName: kueue.x-k8s.io/provisioning-request
          parameters:
            {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: "played-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "new-${suffix}"}
        spec:
          nodeLabels: {pool: "new-${suffix}"}
          tolerations: [{key: pool, operator: Exists, effect: NoSchedule}]
          topologyName: "racks-${suffix}"
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-new-${suffix}"}
        spec:
          namespaceSelector: {}
          admissionChecksStrategy: {admissionChecks: [{name: "provisioning-${suffix}"}]}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "new-${suffix}"
              resources: [{name: cpu, nominalQuota: "100"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq-new}
        spec: {clusterQueue: "cq-new-${suffix}"}
        """);
    return this;
  }

  /** Makes so many nodes of four CPUs in a rack. */
  void addNodes(String rack, int count) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("new" + rack), count)
            .withCapacity("cpu", "4")
            .withLabel("pool", cluster.name("new"))
            .withLabel("example.com/block", "b9")
            .withLabel("example.com/rack", "b9" + rack)
            .withTaint(new NodeTaint("pool", cluster.name("new"), "NoSchedule")));
  }

  /** Awaits that a Workload has quota and waits for its nodes, and later for places on them. */
  void awaitRequest(String workload) {
    RackedCluster.eventually(
        "check of " + workload,
        () -> {
          assertThat(
                  racked
                      .jobs()
                      .get(QueuedJobs.WORKLOAD, workload)
                      .at("/status/admissionChecks/0/state")
                      .asText())
              .isEqualTo("Pending");
          assertThat(delayed(workload)).isEqualTo("Pending");
        });
  }

  /** What the assignment of a Workload says of its delayed places. */
  String delayed(String workload) {
    return racked
        .jobs()
        .get(QueuedJobs.WORKLOAD, workload)
        .at("/status/admission/podSetAssignments/0/delayedTopologyRequest")
        .asText();
  }

  /** Says that the nodes of a Workload are there, or on their way. */
  void approve(String workload) {
    String request = workload + "-" + cluster.name("provisioning") + "-1";
    RackedCluster.eventually(
        "answer to " + request,
        () -> {
          assertThat(racked.jobs().find(ProvisionedQueue.REQUEST, request)).isPresent();
          racked
              .jobs()
              .patchStatus(
                  ProvisionedQueue.REQUEST,
                  request,
                  "{'status': {'conditions': [{'type': 'Provisioned', 'status': 'True', 'reason':"
                      + " 'Played', 'message': '', 'lastTransitionTime':"
                      + " '2026-03-01T10:00:00Z'}]}}");
        });
  }
}
