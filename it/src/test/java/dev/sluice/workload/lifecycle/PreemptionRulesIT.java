package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules that protect from preemption for some time, as people see them. */
@OperatorTest
class PreemptionRulesIT {

  private static final Duration TIME = Duration.ofSeconds(6);

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void aQueueOfTwo(TestCluster own) {
    cluster = own;
    api = new Api(own);
    api.givenQueues(2);
  }

  private void annotate(String kind, String annotation, String value) {
    api.patch(
        kind,
        cluster.name("cq"),
        """
        {"metadata": {"annotations": {"sluice.dev/%s": "%s"}},
         "spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}
        """
            .formatted(annotation, value));
  }

  private void submit(String name, int priority) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, namespace: "${namespace}"}
        spec:
          queueName: lq
          priority: %d
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "2"}}}]
        """
            .formatted(name, priority));
  }

  private JsonNode conditionOf(String workload, String type) {
    return StreamSupport.stream(
            api.get("Workload", workload).at("/status/conditions").spliterator(), false)
        .filter(condition -> condition.path("type").asText().equals(type))
        .findFirst()
        .orElseThrow();
  }

  private Instant since(String workload, String type) {
    return Instant.parse(conditionOf(workload, type).path("lastTransitionTime").asText());
  }

  /** Whoever runs a bare Workload stops it when it is evicted, and gives its quota back. */
  private void stop(String workload) {
    ArrayNode conditions = (ArrayNode) api.get("Workload", workload).at("/status/conditions");
    for (JsonNode condition : conditions) {
      if (condition.path("type").asText().equals("QuotaReserved")) {
        ((ObjectNode) condition).put("status", "False").put("reason", "PendingEvaluation");
      }
    }
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("status").putNull("admission").set("conditions", conditions);
    api.patchStatus("Workload", workload, patch.toString());
  }

  @Test
  void whoHasNotRunLongEnoughIsPreemptedAfterThatTime() {
    annotate("ClusterQueue", "min-run-time", "6s");
    submit("lazy", 0);
    api.awaitCondition("Workload", "lazy", "Admitted", "True Admitted");

    submit("urgent", 5);

    api.awaitMessage("urgent", "QuotaReserved", "sluice.dev/min-run-time");
    Instant until = since("lazy", "Admitted").plus(TIME);
    assertThat(conditionOf("urgent", "QuotaReserved").path("message").asText())
        .contains("the first of them until " + until);
    api.awaitCondition("Workload", "lazy", "Preempted", "True InClusterQueue");
    assertThat(since("lazy", "Evicted")).isAfterOrEqualTo(until);
    stop("lazy");
    api.awaitCondition("Workload", "urgent", "Admitted", "True Admitted");
  }

  private Instant requestedAt(String kind, String name) {
    return Instant.parse(
        api.get(kind, name)
            .path("metadata")
            .path("annotations")
            .path("sluice.dev/checkpoint-requested-at")
            .asText());
  }

  @Test
  void aJobSavesItsWorkBeforeItIsEvicted() {
    annotate("ClusterQueue", "checkpoint-grace", "1h");
    api.submit("lazy", 2);
    String lazy = api.awaitRunning("lazy", 2);

    submit("urgent", 5);
    api.awaitEvent(lazy, "CheckpointRequested");
    String pointer = "/metadata/annotations/sluice.dev~1checkpoint-requested-at";
    api.awaitField("Job", "lazy", pointer, requestedAt("Workload", lazy).toString());
    assertThat(api.condition("Workload", lazy, "Evicted")).isEqualTo("absent");
    Instant saved = Instant.now();
    api.patch(
        "Job",
        "lazy",
        "{\"metadata\": {\"annotations\": {\"sluice.dev/checkpointed-at\": \"%s\"}}}"
            .formatted(saved));
    api.awaitCondition("Workload", lazy, "Preempted", "True InClusterQueue");
    api.awaitCondition("Workload", "urgent", "Admitted", "True Admitted");

    // Requests and reservations are told to the second: in that of the first request, it would
    // count
    // for the next reservation, and its checkpoint would answer it.
    await("the next second").until(() -> Instant.now().isAfter(saved.plusSeconds(1)));
    annotate("ClusterQueue", "checkpoint-grace", "3s");
    api.delete("Workload", "urgent");
    api.awaitCondition("Workload", lazy, "Admitted", "True Admitted");
    submit("later", 5);
    api.awaitCondition("Workload", "later", "Admitted", "True Admitted");
    assertThat(since(lazy, "Evicted"))
        .isAfterOrEqualTo(requestedAt("Workload", lazy).plusSeconds(3));
  }

  @Test
  void preemptionsAreRememberedAndLimited() {
    annotate("ClusterQueue", "max-preemptions", "1/24h");
    submit("lazy", 0);
    api.awaitCondition("Workload", "lazy", "Admitted", "True Admitted");
    submit("urgent", 5);
    api.awaitCondition("Workload", "lazy", "Preempted", "True InClusterQueue");
    String remembered = conditionOf("lazy", "sluice.dev/PreemptedAt").path("message").asText();
    assertThat(Instant.parse(remembered)).isEqualTo(since("lazy", "Evicted"));
    stop("lazy");
    api.awaitCondition("Workload", "urgent", "Admitted", "True Admitted");
    api.delete("Workload", "urgent");
    api.awaitCondition("Workload", "lazy", "Admitted", "True Admitted");

    submit("later", 5);

    api.awaitMessage("later", "QuotaReserved", "sluice.dev/max-preemptions");
    assertThat(conditionOf("later", "QuotaReserved").path("message").asText())
        .contains("until " + Instant.parse(remembered).plus(Duration.ofHours(24)));
    assertThat(api.condition("Workload", "lazy", "Evicted")).startsWith("False");
  }

  private void submitJob(String name, String queue, int pods, String priority) {
    api.submit(Api.job(name, "kueue.x-k8s.io/queue-name: " + queue + priority, pods));
  }

  /**
   * The smallest tree of docs/preemption.md#preemption-that-goes-on-for-ever: whoever is evicted
   * for the head borrows less, and gets its quota back before it.
   */
  @Test
  void aHeadThatPreemptsTheSameAgainStarts() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "root-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "left-${suffix}"}
        spec: {parentName: "root-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 5
        """);
    givenQueue(
        "head",
        "left",
        2,
        "preemption: {reclaimWithinCohort: LowerPriority, borrowWithinCohort: {policy:"
            + " LowerPriority}}");
    givenQueue("near", "left", 1, "");
    givenQueue("lender", "root", 3, "");
    String urgent = ", kueue.x-k8s.io/priority-class: " + cluster.name("urgent");
    submitJob("elder", "near", 2, "");
    submitJob("other", "lender", 2, urgent);
    String elder = api.workloadOf("elder");
    api.awaitCondition("Workload", elder, "Admitted", "True Admitted");
    api.awaitCondition("Workload", api.workloadOf("other"), "Admitted", "True Admitted");

    submitJob("head", "head", 4, urgent);

    String head = api.workloadOf("head");
    api.awaitCondition("Workload", head, "Admitted", "True Admitted");
    api.awaitCondition("Workload", elder, "Preempted", "True InCohortReclaimWhileBorrowing");
    assertThat(api.get("Workload", elder).at("/status/schedulingStats/evictions/0/count").asInt())
        .as("how often it was preempted")
        .isEqualTo(2);
  }

  private void givenQueue(String name, String cohort, int cpu, String preemption) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%s-${suffix}"}
        spec:
          cohortName: "%s-${suffix}"
          namespaceSelector: {}
          %s
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %s, namespace: "${namespace}"}
        spec: {clusterQueue: "%s-${suffix}"}
        """
            .formatted(name, cohort, preemption, cpu, name, name));
    api.awaitCondition("LocalQueue", name, "Active", "True Ready");
  }

  @Test
  void aPreemptorWaitsForQuotaFirst() {
    annotate("ClusterQueue", "preemption-delay", "6s");
    submit("lazy", 0);
    api.awaitCondition("Workload", "lazy", "Admitted", "True Admitted");

    submit("urgent", 5);

    api.awaitMessage("urgent", "QuotaReserved", "sluice.dev/preemption-delay");
    Instant until =
        Instant.parse(api.get("Workload", "urgent").at("/metadata/creationTimestamp").asText())
            .plus(TIME);
    assertThat(conditionOf("urgent", "QuotaReserved").path("message").asText())
        .contains("may preempt from " + until + " on");
    api.awaitCondition("Workload", "lazy", "Preempted", "True InClusterQueue");
    assertThat(since("lazy", "Evicted")).isAfterOrEqualTo(until);
  }

  @Test
  void classesSayMoreThanQueues() {
    annotate("ClusterQueue", "min-run-time", "87600h");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata:
          name: "emergency-${suffix}"
          annotations: {sluice.dev/min-run-time-exempt: "true"}
        value: 5
        """);
    submit("lazy", 0);
    api.awaitCondition("Workload", "lazy", "Admitted", "True Admitted");
    submit("urgent", 5);
    api.awaitMessage("urgent", "QuotaReserved", "sluice.dev/min-run-time");

    api.patch(
        "Workload",
        "urgent",
        "{'spec': {'priorityClassRef': {'group': 'kueue.x-k8s.io', 'kind': 'WorkloadPriorityClass',"
            + " 'name': '"
            + cluster.name("emergency")
            + "'}}}");

    api.awaitCondition("Workload", "lazy", "Preempted", "True InClusterQueue");
  }

  @Test
  void wrongValuesAreRefusedWhoeverWritesThem() {
    assertThatThrownBy(() -> annotate("ClusterQueue", "max-preemptions", "often"))
        .hasMessageContaining("metadata.annotations[sluice.dev/max-preemptions]")
        .hasMessageContaining("such as 3/24h");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: Cohort
                    metadata: {name: "co-${suffix}", annotations: {sluice.dev/min-run-time: long}}
                    """))
        .hasMessageContaining("metadata.annotations[sluice.dev/min-run-time]")
        .hasMessageContaining("such as 30m");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: WorkloadPriorityClass
                    metadata: {name: "c-${suffix}", annotations: {sluice.dev/preemption-delay: soon}}
                    value: 1
                    """))
        .hasMessageContaining("metadata.annotations[sluice.dev/preemption-delay]");
  }
}
