package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Queues that share idle quota by weight, through the API alone. */
@OperatorTest(
    configuration =
        "fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare,"
            + " LessThanInitialShare]}\n")
class FairSharingIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void threeQueuesOfTwoCpusEach(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1));
    own.applyText(
        "apiVersion: kueue.x-k8s.io/v1beta2\n"
            + "kind: ResourceFlavor\n"
            + "metadata: {name: \"f-${suffix}\"}\n");
    for (String name : List.of("early", "late", "idle")) {
      own.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "%s-${suffix}"}
          spec:
            cohortName: "org-${suffix}"
            namespaceSelector: {}
            preemption: {reclaimWithinCohort: Any}
            resourceGroups:
            - coveredResources: [cpu]
              flavors:
              - name: "f-${suffix}"
                resources: [{name: cpu, nominalQuota: "2"}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: %s, namespace: "${namespace}"}
          spec: {clusterQueue: "%s-${suffix}"}
          """
              .formatted(name, name, name));
      api.awaitCondition("LocalQueue", name, "Active", "True Ready");
    }
  }

  private void submit(String job, String queue) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, queue));
  }

  @Test
  void whatIsIdleIsSplitEvenlyBetweenThoseWhoWantIt() {
    List<String> early = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      submit("early-" + i, "early");
      early.add(api.awaitRunning("early-" + i, 1));
    }
    // It borrows four of the six CPUs that the cohort could lend: 4000/6, rounded up.
    awaitShare("early", "667");

    for (int i = 0; i < 3; i++) {
      submit("late-" + i, "late");
      api.awaitRunning("late-" + i, 1);
    }

    // Two were within the nominal quota of "late"; with the third, both borrow one.
    awaitShare("early", "167");
    awaitShare("late", "167");
    assertThat(early.stream().map(each -> api.condition("Workload", each, "Preempted")).toList())
        .containsOnlyOnce("True InCohortFairSharing")
        .filteredOn("True InCohortReclamation"::equals)
        .hasSize(2);

    // A fourth one would have more than it leaves to the others.
    submit("late-3", "late");
    api.awaitCondition(
        "Workload", api.workloadOf("late-3"), "QuotaReserved", "False WaitingForQuota");
    assertThat(running()).isEqualTo(Map.of("early", 3L, "late", 3L));
  }

  private void awaitShare(String queue, String share) {
    api.awaitField("ClusterQueue", cluster.name(queue), "/status/fairSharing/weightedShare", share);
  }

  private Map<String, Long> running() {
    return cluster
        .client()
        .batch()
        .v1()
        .jobs()
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .filter(job -> !Boolean.TRUE.equals(job.getSpec().getSuspend()))
        .collect(
            Collectors.groupingBy(
                job -> job.getMetadata().getName().replaceAll("-.*", ""), Collectors.counting()));
  }
}
