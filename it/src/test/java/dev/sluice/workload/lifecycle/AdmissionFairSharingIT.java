package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * LocalQueues of one ClusterQueue take turns by what they used, on a real control plane, and an
 * operator that is started again knows what was used before.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class AdmissionFairSharingIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String PAST = "/status/fairSharing/admissionFairSharingStatus";

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new Random())
          .withShortLease()
          .with(
              """
              admissionFairSharing:
                usageHalfLifeTime: 30s
                usageSamplingInterval: 1s
              """);

  private static void givenQueues(TestCluster cluster, Api api) {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("spot"), 1).withLabel("pool", "spot"));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        spec: {nodeLabels: {pool: spot}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "2"}]
        """);
    for (String queue : List.of("greedy", "modest", "fresh")) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: %s, namespace: "${namespace}"}
          spec: {clusterQueue: "cq-${suffix}"}
          """
              .formatted(queue));
      api.awaitCondition("LocalQueue", queue, "Active", "True Ready");
    }
  }

  /** A Job that takes all there is. */
  private static void submit(Api api, String job, String queue, boolean urgent) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s%s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "2"}}}]
        """
            .formatted(
                job, queue, urgent ? ", kueue.x-k8s.io/priority-class: \"urgent-${suffix}\"" : ""));
  }

  private static String version(Api api, String queue) {
    return api.get("LocalQueue", queue).at("/metadata/resourceVersion").asText();
  }

  private static double consumed(Api api, String queue) {
    JsonNode cpu = api.get("LocalQueue", queue).at(PAST + "/consumedResources/cpu");
    return cpu.isMissingNode() ? 0 : Quantities.parse(cpu.asText()).doubleValue();
  }

  @Test
  void whoUsedLessHasItsTurnAlsoAfterARestart(TestCluster cluster) {
    Api api = new Api(cluster);
    double before;
    try (OperatorProcess operator =
        OperatorProcess.start(
                "operator-of-turns",
                cluster.kubeconfig(),
                settings,
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      whoUsedLessHasItsTurn(cluster, api);
      operator.kill();
      before = consumed(api, "greedy");
    }

    // after a restart "greedy" still waits behind a queue that used nothing
    try (LocalOperator _ =
        LocalOperator.start("operator-of-turns", cluster.kubeconfig(), settings)) {
      String urgent = api.workloadOf("urgent");
      submit(api, "late", "fresh", false);
      api.awaitCondition(
          "Workload", api.workloadOf("late"), "QuotaReserved", "False WaitingForQuota");
      assertThat(consumed(api, "greedy")).isPositive().isLessThan(before);
      api.delete("Job", "turn");

      api.awaitRunning("late", 1);
      assertThat(api.condition("Workload", urgent, "QuotaReserved"))
          .isEqualTo("False WaitingForQuota");
      api.delete("Job", "late");
      api.awaitRunning("urgent", 1);
    }
  }

  private static void whoUsedLessHasItsTurn(TestCluster cluster, Api api) {
    Instant began = Instant.now();
    givenQueues(cluster, api);

    // a queue that used nothing says so
    api.awaitField("LocalQueue", "fresh", "/status/fairSharing/weightedShare", "0");
    JsonNode past = api.get("LocalQueue", "fresh").at(PAST);
    assertThat(past.path("consumedResources").toString()).isEqualTo("{\"cpu\":\"0\"}");
    assertThat(Instant.parse(past.path("lastUpdate").asText()))
        .isBetween(began.minusSeconds(1), Instant.now());

    String settled = version(api, "fresh");

    // when "greedy" has had it for some seconds
    submit(api, "past", "greedy", false);
    api.awaitRunning("past", 1);
    await().atMost(LIMIT).until(() -> consumed(api, "greedy") > 0.15);
    submit(api, "urgent", "greedy", true);
    submit(api, "turn", "modest", false);
    String urgent = api.workloadOf("urgent");
    api.awaitCondition("Workload", urgent, "QuotaReserved", "False WaitingForQuota");
    api.awaitCondition(
        "Workload", api.workloadOf("turn"), "QuotaReserved", "False WaitingForQuota");
    api.delete("Job", "past");

    // then it is the turn of "modest", whatever the priority
    api.awaitRunning("turn", 1);
    assertThat(api.condition("Workload", urgent, "QuotaReserved"))
        .isEqualTo("False WaitingForQuota");
    await().atMost(LIMIT).until(() -> consumed(api, "modest") > 0);

    // what doesn't change wasn't written, though it was sampled every second
    assertThat(version(api, "fresh")).isEqualTo(settled);
  }
}
