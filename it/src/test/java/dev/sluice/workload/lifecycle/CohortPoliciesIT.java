package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whom queues of a cohort take quota from, which flavor they take, and whose jobs they hold. */
@OperatorTest(
    configuration =
        """
        manageJobsWithoutQueueName: true
        managedJobsNamespaceSelector:
          matchExpressions:
          - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kueue-system]}
          - {key: left-alone, operator: DoesNotExist}
        """)
class CohortPoliciesIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void twoFlavors(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1));
    own.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "first-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "second-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        """);
  }

  /** A ClusterQueue and a LocalQueue of this name; {@code fields} are more of its spec. */
  private void givenQueue(String name, String cohort, int first, int second, String fields) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%s-${suffix}"}
        spec:
          cohortName: "%s-${suffix}"
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "first-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}]
            - name: "second-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d", borrowingLimit: "0"}]
          %s
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %s, namespace: "${namespace}"}
        spec: {clusterQueue: "%s-${suffix}"}
        """
            .formatted(name, cohort, first, second, fields, name, name));
    api.awaitCondition("LocalQueue", name, "Active", "True Ready");
  }

  private String submit(String name, String queue, int pods) {
    api.submit(Api.job(name, "kueue.x-k8s.io/queue-name: " + queue, pods));
    return api.workloadOf(name);
  }

  private String submitUrgent(String name, String queue, int pods) {
    api.submit(
        Api.job(
            name,
            "kueue.x-k8s.io/queue-name: "
                + queue
                + ", kueue.x-k8s.io/priority-class: 'urgent-${suffix}'",
            pods));
    return api.workloadOf(name);
  }

  private String flavorOf(String workload) {
    return api.get("Workload", workload)
        .at("/status/admission/podSetAssignments/0/flavors/cpu")
        .asText();
  }

  @Test
  void oneWhoMayBorrowWhilePreemptingTakesFromThoseOfLowerPriority() {
    givenQueue(
        "mine",
        "org",
        1,
        0,
        """
        namespaceSelector: {}
          preemption:
            reclaimWithinCohort: LowerPriority
            borrowWithinCohort: {policy: LowerPriority}\
        """);
    givenQueue("theirs", "org", 1, 0, "namespaceSelector: {}");
    givenQueue("idle", "org", 2, 0, "namespaceSelector: {}");
    String guest = submit("guest", "theirs", 3);
    api.awaitRunning("guest", 3);

    submitUrgent("urgent", "mine", 2);

    api.awaitRunning("urgent", 2);
    api.awaitCondition("Workload", guest, "Preempted", "True InCohortReclaimWhileBorrowing");
    api.awaitField("Job", "guest", "/spec/suspend", "true");
  }

  @Test
  void theLowerPriorityOfOthersIsLeftAloneWithoutThat() {
    givenQueue(
        "mine",
        "org",
        1,
        0,
        "namespaceSelector: {}\n  preemption: {reclaimWithinCohort: LowerPriority}");
    givenQueue("theirs", "org", 1, 0, "namespaceSelector: {}");
    givenQueue("idle", "org", 2, 0, "namespaceSelector: {}");
    String guest = submit("guest", "theirs", 3);
    api.awaitRunning("guest", 3);

    String urgent = submitUrgent("urgent", "mine", 2);

    api.awaitCondition("Workload", urgent, "QuotaReserved", "False WaitingForQuota");
    assertThat(api.condition("Workload", guest, "Preempted")).isEqualTo("absent");
    assertThat(api.get("Job", "guest").at("/spec/suspend").asBoolean()).isFalse();
  }

  @Test
  void theNextFlavorComesBeforeBorrowingWhereThePolicySaysSo() {
    givenQueue("keen", "org", 1, 2, "namespaceSelector: {}");
    givenQueue(
        "modest",
        "org",
        1,
        2,
        "namespaceSelector: {}\n  flavorFungibility: {whenCanBorrow: TryNextFlavor}");

    String borrows = submit("borrows", "keen", 2);
    api.awaitRunning("borrows", 2);
    assertThat(flavorOf(borrows)).isEqualTo(cluster.name("first"));
    api.delete("Job", "borrows");
    api.awaitGone("Workload", borrows);

    String moves = submit("moves", "modest", 2);
    api.awaitRunning("moves", 2);
    assertThat(flavorOf(moves)).isEqualTo(cluster.name("second"));
  }

  @Test
  void aQueueTakesOnlyFromNamespacesThatItSelects() {
    givenQueue(
        "picky", "org", 2, 0, "namespaceSelector: {matchLabels: {team: '${suffix}-research'}}");
    String workload = submit("stranger", "picky", 1);
    await()
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () ->
                assertThat(api.get("Workload", workload).at("/status/conditions").toString())
                    .contains("doesn't match"));
    assertThat(api.get("Job", "stranger").at("/spec/suspend").asBoolean()).isTrue();

    cluster
        .client()
        .namespaces()
        .withName(cluster.namespace())
        .edit(
            namespace -> {
              Map<String, String> labels = namespace.getMetadata().getLabels();
              labels.put("team", cluster.name("x").replace("x-", "") + "-research");
              return namespace;
            });

    api.awaitRunning("stranger", 1);
  }

  @Test
  void jobsWithoutAQueueAreHeldOnlyWhereTheyAreManaged() {
    api.submit(Api.job("nameless", "team: a", 1));
    api.awaitField("Job", "nameless", "/spec/suspend", "true");

    String free = cluster.createNamespace("free");
    cluster
        .client()
        .namespaces()
        .withName(free)
        .edit(
            namespace -> {
              namespace.getMetadata().getLabels().put("left-alone", "yes");
              return namespace;
            });
    await()
        .atMost(Duration.ofMinutes(5))
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () -> {
              String name = "free-" + System.nanoTime();
              cluster.client().resource(Api.job(name, "team: a", 1)).inNamespace(free).create();
              assertThat(
                      cluster
                          .client()
                          .batch()
                          .v1()
                          .jobs()
                          .inNamespace(free)
                          .withName(name)
                          .get()
                          .getSpec()
                          .getSuspend())
                  .isNotEqualTo(true);
            });
  }
}
