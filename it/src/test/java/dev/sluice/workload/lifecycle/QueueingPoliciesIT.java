package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The worked examples of docs/queueing-policies.md on a real control plane, one per rule. */
@OperatorTest(configuration = OperatorTest.WITH_GATES)
class QueueingPoliciesIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1));
    own.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        """);
  }

  /** A ClusterQueue of 4 cpu with these annotations and fields, and its LocalQueue. */
  private void queue(String name, String annotations, String fields) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%1$s-${suffix}", annotations: {%2$s}}
        spec:
          namespaceSelector: {}
          %3$s
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "4"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: "%1$s", namespace: "${namespace}"}
        spec: {clusterQueue: "%1$s-${suffix}"}
        """
            .formatted(name, annotations, fields));
    api.awaitCondition("LocalQueue", name, "Active", "True Ready");
  }

  /** A Job of one pod that runs until it is deleted; returns its Workload. */
  private String submit(String job, String queue, int cpu) {
    return submit(job, queue, cpu, "", "");
  }

  private String submit(String job, String queue, int cpu, String labels, String podFields) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s%s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              %s
              containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(job, queue, labels, podFields, cpu));
    return api.workloadOf(job);
  }

  private void awaitRefused(String workload) {
    api.awaitCondition("Workload", workload, "QuotaReserved", "False WaitingForQuota");
  }

  /** Workloads of one second are ordered by their UIDs. */
  private static void awaitNextSecond() {
    await().pollDelay(Duration.ofMillis(1100)).until(() -> true);
  }

  private void end(String job) {
    String workload = api.workloadOf(job);
    api.delete("Job", job);
    api.awaitGone("Workload", workload);
  }

  @Test
  void onlyTheEndOfItsPauseBringsAWorkloadOfARoundRobinQueueBack() {
    queue(
        "patient",
        "sluice.dev/queueing-strategy: RoundRobin, sluice.dev/attempt-backoff: '1h,1h'",
        "");
    queue(
        "quick",
        "sluice.dev/queueing-strategy: RoundRobin, sluice.dev/attempt-backoff: '1s,2s'",
        "");
    for (String queue : List.of("patient", "quick")) {
      submit(queue + "-running", queue, 3);
      api.awaitRunning(queue + "-running", 1);
      String big = submit(queue + "-big", queue, 4);
      awaitRefused(big);
      api.awaitMessage(big, "QuotaReserved", "the queue is RoundRobin");
      end(queue + "-running");
    }

    api.awaitRunning("quick-big", 1);
    submit("patient-small", "patient", 1);
    api.awaitRunning("patient-small", 1);
    assertThat(api.condition("Workload", api.workloadOf("patient-big"), "QuotaReserved"))
        .isEqualTo("False WaitingForQuota");
  }

  @Test
  void whoWaitsForLongComesBeforeAHigherPriority() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "five-${suffix}"}
        value: 5
        """);
    // the younger one ages as well until quota is free: the older one stays ten ahead
    queue("aging", "sluice.dev/priority-aging: '10s,10,1000'", "");
    submit("running", "aging", 4);
    api.awaitRunning("running", 1);
    String old = submit("old", "aging", 4);
    await()
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () ->
                assertThat(
                        api.get("Workload", old)
                            .at("/metadata/annotations")
                            .path("kueue.x-k8s.io/priority-boost")
                            .asText())
                    .isEqualTo("10"));
    submit("young", "aging", 4, ", kueue.x-k8s.io/priority-class: " + cluster.name("five"), "");

    end("running");
    api.awaitRunning("old", 1);
    assertThat(api.condition("Workload", api.workloadOf("young"), "QuotaReserved"))
        .isEqualTo("False WaitingForQuota");
  }

  @Test
  void aReleaseInAStrictPriorityQueueLetsTheFirstOneTryAtOnce() {
    queue(
        "strict",
        "sluice.dev/queueing-strategy: StrictPriority, sluice.dev/attempt-backoff: '1h,1h'",
        "");
    submit("running", "strict", 3);
    api.awaitRunning("running", 1);
    String big = submit("big", "strict", 4);
    awaitRefused(big);
    awaitNextSecond();
    String second = submit("second", "strict", 3);
    awaitRefused(second);

    end("running");

    api.awaitRunning("big", 1);
    awaitRefused(second);
  }

  @Test
  void aBigJobStarvesUnderRoundRobinAndDoesNotWhereItBlocks() {
    queue(
        "round",
        "sluice.dev/queueing-strategy: RoundRobin, sluice.dev/attempt-backoff: '1h,1h'",
        "");
    queue("block", "", "queueingStrategy: StrictFIFO");

    assertThat(smallOnesThatPassABigOne("round")).containsExactly("round-5", "round-6", "round-7");
    assertThat(smallOnesThatPassABigOne("block")).isEmpty();
    // where it blocks, the big one is next, and the small ones behind it follow
    end("block-4");
    api.awaitRunning("block-big", 1);
  }

  /** Four small ones run, a big one waits; three times a small one ends, and another one comes. */
  private List<String> smallOnesThatPassABigOne(String queue) {
    for (int i = 1; i <= 4; i++) {
      submit(queue + "-" + i, queue, 1);
      api.awaitRunning(queue + "-" + i, 1);
    }
    awaitRefused(submit(queue + "-big", queue, 4));
    awaitNextSecond();
    List<String> passed = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      end(queue + "-" + i);
      awaitReserved(queue, queue.equals("round") ? 3 : 4 - i);
      String next = queue + "-" + (i + 4);
      String workload = submit(next, queue, 1);
      if (queue.equals("round")) {
        api.awaitRunning(next, 1);
      }
      if (api.condition("Workload", workload, "QuotaReserved").startsWith("True")) {
        passed.add(next);
      }
    }
    return passed;
  }

  /** Awaits that so many CPUs are in use: pods of a Job that was deleted count until they end. */
  private void awaitReserved(String queue, int cpus) {
    api.awaitField(
        "ClusterQueue",
        cluster.name(queue),
        "/status/flavorsReservation/0/resources/0/total",
        Integer.toString(cpus));
  }

  @Test
  void theQueueOfHigherPriorityIsServedFirst() {
    queue("low", "", "cohortName: 'co-${suffix}'".replace("${suffix}", cluster.name("x")));
    queue(
        "high",
        "sluice.dev/queue-priority: '10'",
        "cohortName: 'co-${suffix}'".replace("${suffix}", cluster.name("x")));
    submit("running", "low", 8);
    api.awaitRunning("running", 1);
    String own = submit("own", "low", 4);
    awaitRefused(own);
    String borrower = submit("borrower", "high", 8);
    awaitRefused(borrower);

    end("running");

    api.awaitRunning("borrower", 1);
    awaitRefused(own);
  }

  @Test
  void aQueueMayOversellItsQuotaAndLimitTheNumberOfItsWorkloads() {
    queue(
        "oversold", "sluice.dev/oversell-rate: '2', sluice.dev/max-concurrent-workloads: '2'", "");
    submit("five", "oversold", 5);
    api.awaitRunning("five", 1);
    submit("two", "oversold", 2);
    api.awaitRunning("two", 1);

    String one = submit("one", "oversold", 1);
    awaitRefused(one);
    api.awaitMessage(one, "QuotaReserved", "sluice.dev/max-concurrent-workloads allows: 2");
    end("five");
    api.awaitRunning("one", 1);
  }

  @Test
  void aGuaranteedJobDoesNotBorrowWhereAnOrdinaryOneDoes() {
    String cohort = "cohortName: '" + cluster.name("g") + "'";
    queue("guaranteeing", "sluice.dev/preemptible-labels: 'true'", cohort);
    queue("lender", "", cohort);
    String label = ", quota.scheduling.koordinator.sh/preemptible: 'false'";

    String guaranteed = submit("guaranteed", "guaranteeing", 5, label, "");
    api.awaitCondition("Workload", guaranteed, "QuotaReserved", "False ExceedsMaxQuota");
    submit("borrower", "guaranteeing", 5);
    api.awaitRunning("borrower", 1);
    submit("small", "guaranteeing", 3, label, "");
    api.awaitRunning("small", 1);
  }

  @Test
  void aJobThatDoesNotStartInTimeIsTriedAgainAfterTheBackoffOfItsQueueWithoutLimit() {
    queue("late", "sluice.dev/start-timeout: 3s, sluice.dev/start-backoff: 1s", "");
    String stuck = submit("stuck", "late", 1, "", "nodeSelector: {zone: nowhere}");

    api.awaitCondition("Workload", stuck, "Evicted", "True PodsReadyTimeout");
    api.awaitCondition("Workload", stuck, "Requeued", "True BackoffFinished");
    api.awaitField("Workload", stuck, "/status/requeueState/count", "2");
    api.awaitCondition("Workload", stuck, "Requeued", "True BackoffFinished");
    end("stuck");
  }

  @Test
  void aQueueThatWaitsForPodsHoldsUpOnlyItself() {
    queue("one-by-one", "sluice.dev/block-until-ready: 'true'", "");
    queue("beside", "", "");
    String first = submit("first", "one-by-one", 1, "", "nodeSelector: {zone: nowhere}");
    api.awaitCondition("Workload", first, "Admitted", "True Admitted");

    String next = submit("next", "one-by-one", 1);
    api.awaitCondition("Workload", next, "QuotaReserved", "False WaitingForPodsReady");
    submit("other", "beside", 1);
    api.awaitRunning("other", 1);
    end("first");
    api.awaitRunning("next", 1);
  }

  @Test
  void aWrongValueIsRefusedWithWhatIsAllowed() {
    assertThatThrownBy(() -> queue("wrong", "sluice.dev/queueing-strategy: Round", ""))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(
            "metadata.annotations[sluice.dev/queueing-strategy]: Invalid value: \"Round\": must be"
                + " StrictPriority or RoundRobin");
  }
}
