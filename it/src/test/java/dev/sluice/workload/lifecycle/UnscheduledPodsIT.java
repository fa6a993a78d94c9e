package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Changes of 0.20, section 4, WaitForPodsReadyUnscheduledTimeout: pods without a node, on a real
 * control plane (docs/workload-lifecycle.md#pods-without-a-node).
 */
@OperatorTest(
    configuration =
        """
        waitForPodsReady:
          timeout: 20m
          unscheduledTimeout: 4s
          requeuingStrategy: {backoffBaseSeconds: 600}
        featureGates: {WaitForPodsReadyUnscheduledTimeout: true}
        """)
@Tag(BuildBreadth.NIGHTLY)
class UnscheduledPodsIT {

  @Test
  void aJobOfWhichAPodHasNoNodeIsSentBackAndOneWithNodesIsNot(TestCluster own) {
    Api api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    api.givenQueues(2);
    api.submit("placed", 1, "10m");
    String placed = api.awaitRunning("placed", 1);
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: stuck, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {zone: nowhere}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String stuck = api.workloadOf("stuck");

    api.awaitCondition("Workload", stuck, "Evicted", "True PodsReadyTimeout");
    api.awaitCondition("Workload", stuck, "Requeued", "False PodsReadyTimeout");
    JsonNode status = api.get("Workload", stuck).at("/status");
    assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText())
        .isEqualTo("WorkloadWaitForScheduling");
    assertThat(status.at("/requeueState/count").asInt()).isEqualTo(1);
    assertThat(api.get("Job", "stuck").at("/spec/suspend").asBoolean()).isTrue();
    assertThat(api.condition("Workload", placed, "Admitted")).isEqualTo("True Admitted");
  }
}
