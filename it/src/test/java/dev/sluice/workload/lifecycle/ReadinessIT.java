package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods that must be ready, retention and priority boosts, on a real control plane. */
@OperatorTest(
    configuration =
        """
            waitForPodsReady:
              timeout: 6s
              recoveryTimeout: 6s
              requeuingStrategy: {backoffLimitCount: 1, backoffBaseSeconds: 6}
            objectRetentionPolicies:
              workloads: {afterFinished: 3s, afterDeactivatedByKueue: 3s}
            featureGates: {PriorityBoost: true, UnadmittedWorkloadsExplicitStatus: true}
            """)
class ReadinessIT {

  private Api api;

  @BeforeEach
  void look(TestCluster own) {
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    api.givenQueues(1);
  }

  private void submitWhatNoNodeTakes(String job) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {zone: nowhere}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job));
  }

  @Test
  void aJobWhosePodsNeverAreReadyIsSentBackThenDeactivatedThenDeleted() {
    submitWhatNoNodeTakes("stuck");
    String workload = api.workloadOf("stuck");
    api.awaitCondition("Workload", workload, "PodsReady", "False WaitForStart");

    api.awaitCondition("Workload", workload, "Evicted", "True PodsReadyTimeout");
    api.awaitCondition("Workload", workload, "Requeued", "False PodsReadyTimeout");
    JsonNode status = api.get("Workload", workload).at("/status");
    assertThat(status.at("/requeueState/count").asInt()).isEqualTo(1);
    assertThat(status.at("/requeueState/requeueAt").asText()).isNotEmpty();
    assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText())
        .isEqualTo("WaitForStart");
    assertThat(api.get("Job", "stuck").at("/spec/suspend").asBoolean()).isTrue();
    api.awaitEvent(workload, "EvictedDueToPodsReadyTimeout");

    api.awaitCondition("Workload", workload, "Requeued", "True BackoffFinished");
    api.awaitCondition("Workload", workload, "Admitted", "True Admitted");
    assertThat(api.get("Workload", workload).at("/status/requeueState/count").asInt()).isEqualTo(1);

    api.awaitCondition(
        "Workload", workload, "Evicted", "True DeactivatedDueToRequeuingLimitExceeded");
    api.awaitGone("Job", "stuck");
    api.awaitGone("Workload", workload);
    api.awaitEvent("stuck", "Deleted");
  }

  @Test
  void aJobThatIsReadySaysSoAndItsWorkloadGoesAfterItHasFinished() {
    api.submit("quick", 1, "6s");
    String workload = api.awaitRunning("quick", 1);
    api.awaitCondition("Workload", workload, "PodsReady", "True Started");

    api.awaitCondition("Workload", workload, "Finished", "True Succeeded");
    api.awaitGone("Workload", workload);
    api.awaitEvent(workload, "Deleted");
    assertThat(api.find("Job", "quick")).isPresent();
  }

  @Test
  void whoIsBoostedGoesFirst() {
    api.submit("first", 1);
    api.awaitRunning("first", 1);
    api.submit("second", 1);
    String second = api.workloadOf("second");
    api.awaitCondition("Workload", second, "QuotaReserved", "False WaitingForQuota");
    api.submit("third", 1);
    String third = api.workloadOf("third");
    api.awaitCondition("Workload", third, "QuotaReserved", "False WaitingForQuota");
    api.patch(
        "Workload", third, "{'metadata': {'annotations': {'kueue.x-k8s.io/priority-boost': '5'}}}");

    api.delete("Job", "first");

    api.awaitRunning("third", 1);
    assertThat(api.condition("Workload", second, "QuotaReserved"))
        .isEqualTo("False WaitingForQuota");
  }
}
