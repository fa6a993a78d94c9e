package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Jobs that are admitted one at a time, when all pods are ready, on a real control plane. */
@OperatorTest(configuration = "waitForPodsReady: {timeout: 5m, blockAdmission: true}\n")
@Execution(ExecutionMode.SAME_THREAD) // one job holds up those of all queues
@Tag(BuildBreadth.NIGHTLY)
class BlockAdmissionIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new Api(own);
    api.givenQueues(10);
    givenANodeIn("a");
  }

  private String late() {
    return cluster.name("late");
  }

  private void givenANodeIn(String zone) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name(zone.equals("a") ? "spot" : "spot-late"), 1)
            .withLabel("pool", "spot")
            .withLabel("zone", zone));
  }

  /** A Job of one pod that starts when there is a node in zone {@link #late}. */
  private String submitWhatNoNodeTakesYet(String job) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: %s}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, late()));
    String workload = api.workloadOf(job);
    api.awaitCondition("Workload", workload, "Admitted", "True Admitted");
    api.awaitCondition("Workload", workload, "PodsReady", "False WaitForStart");
    return workload;
  }

  private void end(String... jobs) {
    for (String job : jobs) {
      String workload = api.workloadOf(job);
      api.delete("Job", job);
      api.awaitGone("Workload", workload);
    }
  }

  @Test
  void theNextJobWaitsUntilThePodsOfTheFirstAreReady() {
    String first = submitWhatNoNodeTakesYet("first");
    api.submit("second", 1);
    String second = api.workloadOf("second");
    api.awaitCondition("Workload", second, "QuotaReserved", "False WaitingForPodsReady");
    api.awaitCondition("Workload", second, "Admitted", "False NoReservation");
    api.awaitEvent(second, "WaitingForPodsReady");
    assertThat(api.get("Job", "second").at("/spec/suspend").asBoolean()).isTrue();

    givenANodeIn(late());

    api.awaitCondition("Workload", first, "PodsReady", "True Started");
    api.awaitRunning("second", 1);
    end("first", "second");
  }

  @Test
  void theEndOfTheFirstLetsTheNextIn() {
    submitWhatNoNodeTakesYet("first");
    api.submit("second", 1);
    String second = api.workloadOf("second");
    api.awaitCondition("Workload", second, "QuotaReserved", "False WaitingForPodsReady");

    end("first");

    api.awaitRunning("second", 1);
    end("second");
  }
}
