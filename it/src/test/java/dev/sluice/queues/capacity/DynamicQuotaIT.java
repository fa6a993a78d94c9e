package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Quotas follow what providers say, and what nodes have (docs/dynamic-quota.md). */
@OperatorTest(
    configuration = "featureGates: {DynamicQuotaOrchestration: true, NodeCapacityProvider: true}")
class DynamicQuotaIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String PROVIDER = "kueue.x-k8s.io/v1alpha1/CapacityProvider";
  private static final String ORCHESTRATOR = "kueue.x-k8s.io/v1alpha1/DynamicQuotaOrchestrator";
  private static final String CLUSTER_QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue";
  private static final String JOB = "batch/v1/Job";

  private static final String ROOT =
      """
      apiVersion: kueue.x-k8s.io/v1alpha1
      kind: DynamicQuotaOrchestrator
      metadata: {name: "%s-${suffix}"}
      spec:
        capacityDiscovery: {providers: [{name: "cp-${suffix}"}]}
        capacityDistribution: {subtreeRootQuotaRef: {kind: %s, name: "%s-${suffix}"}}
      """;

  private QueuedJobs jobs;
  private TestCluster cluster;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    jobs = new QueuedJobs(own);
  }

  /** Another controller writes the capacity; the Job waits for it. */
  @Test
  void aJobStartsWhenAProviderHasCapacity(TestCluster own) {
    queues("");
    provider("example.com/budget", "");
    own.applyText(ROOT.formatted("dqo", "Cohort", "root"));
    awaitCondition(ORCHESTRATOR, "dqo", "EffectiveCapacityComputed", "False", "ProviderNotReady");
    awaitCondition(ORCHESTRATOR, "dqo", "Distributed", "False", "EffectiveCapacityNotComputed");
    tell("True", "Synchronized", "4");
    awaitCondition(ORCHESTRATOR, "dqo", "Distributed", "True", "QuotasDistributed");
    awaitQuotas("1", "3");

    submit("big", "b", 6);
    submit("small", "a", 1);
    jobs.awaitCondition(
        QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "small"), "QuotaReserved", "True");
    assertThat(jobs.get(JOB, "big").at("/spec/suspend").asBoolean()).isTrue();

    tell("True", "Synchronized", "8");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "big"), "QuotaReserved", "True");
    await("start").atMost(LIMIT).until(() -> !jobs.get(JOB, "big").at("/spec/suspend").asBoolean());

    // capacity that falls evicts nobody, and what can't be told changes nothing
    tell("True", "Synchronized", "1");
    awaitQuotas("250m", "750m");
    tell("False", "SourceUnavailable", "1");
    awaitCondition(ORCHESTRATOR, "dqo", "EffectiveCapacityComputed", "False", "ProviderNotReady");
    assertThat(jobs.get(JOB, "big").at("/spec/suspend").asBoolean()).isFalse();
    assertThat(quota(CLUSTER_QUEUE, "b")).isEqualTo("750m");

    // an orchestrator at the same root, and one below it, wait for the older one
    own.applyText(ROOT.formatted("late", "Cohort", "root"));
    own.applyText(ROOT.formatted("below", "ClusterQueue", "b"));
    awaitCondition(
        ORCHESTRATOR, "late", "Distributed", "False", "ConflictingDynamicQuotaOrchestrator");
    awaitCondition(
        ORCHESTRATOR, "below", "Distributed", "False", "ConflictingDynamicQuotaOrchestrator");

    // without an orchestrator the specifications count again
    List.of("late", "below", "dqo").forEach(name -> jobs.delete(ORCHESTRATOR, own.name(name)));
    await("no effective quotas")
        .atMost(LIMIT)
        .until(
            () ->
                quota(CLUSTER_QUEUE, "a").equals("absent")
                    && quota(CLUSTER_QUEUE, "b").equals("absent"));
  }

  /** Nodes come and go, and so do quotas. */
  @Test
  void quotaFollowsNodes(TestCluster own) {
    queues("capacity: \"${suffix}\"");
    provider(ProviderCapacity.CONTROLLER, "sluice.dev/capacity-reserve: cpu=2");
    own.applyText(ROOT.formatted("dqo", "Cohort", "root"));
    awaitCondition(PROVIDER, "cp", "CapacitySynchronized", "True", "Synchronized");
    awaitQuotas("0", "0");
    submit("waits", "b", 6);

    List<Node> nodes = new ArrayList<>(nodes("first", 1));
    awaitQuotas("2", "6");
    jobs.awaitCondition(
        QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "waits"), "QuotaReserved", "True");
    nodes.addAll(nodes("second", 2));
    awaitQuotas("7", "21");
    jobs.patch(
        "v1/Node", nodes.getLast().getMetadata().getName(), "{'spec': {'unschedulable': true}}");
    awaitQuotas("4500m", "13500m");
    nodes.forEach(node -> own.client().resource(node).delete());
    awaitQuotas("0", "0");
    await("start")
        .atMost(LIMIT)
        .until(() -> !jobs.get(JOB, "waits").at("/spec/suspend").asBoolean());

    jobs.patch(
        PROVIDER,
        own.name("cp"),
        "{'metadata': {'annotations': {'sluice.dev/capacity-reserve': 'much'}}}");
    awaitCondition(PROVIDER, "cp", "CapacitySynchronized", "False", "Misconfigured");
    assertThat(jobs.message(PROVIDER, own.name("cp"), "CapacitySynchronized"))
        .contains("metadata.annotations[sluice.dev/capacity-reserve]: \"much\": must be");
  }

  /** Changes of 0.20, section 5: pods that aren't ours are subtracted where asked. */
  @Test
  void quotaIsWithoutWhatPodsUseThatArentQueued(TestCluster own) {
    queues("capacity: \"${suffix}\"");
    provider(ProviderCapacity.CONTROLLER, "sluice.dev/capacity-subtract: ForeignPods");
    own.applyText(ROOT.formatted("dqo", "Cohort", "root"));
    String node = nodes("only", 1).getFirst().getMetadata().getName();
    awaitQuotas("2500m", "7500m");

    own.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: daemon, annotations: {sluice.dev/run-for: 60m}}
        spec:
          nodeName: %s
          containers: [{name: main, image: none, resources: {requests: {cpu: 2}}}]
        """
            .formatted(node));
    awaitQuotas("2", "6");
    assertThat(jobs.message(PROVIDER, own.name("cp"), "CapacitySynchronized"))
        .contains("less what pods request there that aren't queued");

    submit("queued", "b", 5);
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "queued"), "PodsReady", "True");
    jobs.delete("v1/Pod", "daemon");
    awaitQuotas("2500m", "7500m");
    assertThat(jobs.get(JOB, "queued").at("/spec/suspend").asBoolean()).isFalse();
  }

  /** Changes of 0.20, section 5. */
  @Test
  void theSchemaRefusesWhatCantBe(TestCluster own) {
    provider("example.com/budget", "");
    assertThatThrownBy(
            () -> jobs.patch(PROVIDER, own.name("cp"), "{'spec': {'controllerName': 'other'}}"))
        .hasMessageContaining("controllerName can't be changed");
    assertThatThrownBy(() -> own.applyText(ROOT.formatted("dqo", "LocalQueue", "root")))
        .hasMessageContaining("spec.capacityDistribution.subtreeRootQuotaRef.kind");
    assertThatThrownBy(
            () ->
                own.applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1alpha1
                    kind: DynamicQuotaOrchestrator
                    metadata: {name: "dqo-${suffix}"}
                    spec:
                      capacityDiscovery:
                        providers: [{name: "cp-${suffix}", effectiveCapacityMultiplier: "-1"}]
                    """))
        .hasMessageContaining("effectiveCapacityMultiplier");
    own.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: DynamicQuotaOrchestrator
        metadata: {name: "shows-${suffix}"}
        spec:
          capacityDiscovery: {providers: [{name: "cp-${suffix}"}]}
          capacityDistribution: {}
        """);
    awaitCondition(ORCHESTRATOR, "shows", "EffectiveCapacityComputed", "False", "ProviderNotReady");
  }

  private List<Node> nodes(String name, int count) {
    return cluster.createNodes(
        NodeGroup.parse(
            "%s:count=%d,cpu=10,label=capacity=%s"
                .formatted(cluster.name(name), count, cluster.name("x").substring(2))));
  }

  private void queues(String labels) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "any-${suffix}"}
        spec: {nodeLabels: {%s}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "root-${suffix}"}
        """
            .formatted(labels));
    queue("a", 10);
    queue("b", 30);
  }

  private void queue(String name, int nominal) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%1$s-${suffix}"}
        spec:
          namespaceSelector: {}
          cohortName: "root-${suffix}"
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "any-${suffix}"
              resources: [{name: cpu, nominalQuota: %2$d, borrowingLimit: 0}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: "%1$s"}
        spec: {clusterQueue: "%1$s-${suffix}"}
        """
            .formatted(name, nominal));
  }

  private void provider(String controller, String annotations) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: CapacityProvider
        metadata: {name: "cp-${suffix}", annotations: {%s}}
        spec:
          controllerName: %s
          orchestratedFlavors: [{name: "any-${suffix}"}]
        """
            .formatted(annotations, controller));
  }

  private void tell(String status, String reason, String cpu) {
    jobs.patchStatus(
        PROVIDER,
        cluster.name("cp"),
        """
        {"status": {
          "capacity": {"flavors": [{"name": "%s", "resources": {"cpu": "%s"}}]},
          "conditions": [{"type": "CapacitySynchronized", "status": "%s", "reason": "%s",
            "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        """
            .formatted(cluster.name("any"), cpu, status, reason)
            .replace('"', '\''));
  }

  private void submit(String name, String queue, int cpu) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "60m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: %d}}}]
        """
            .formatted(name, queue, cpu));
  }

  private void awaitQuotas(String a, String b) {
    await("quotas " + a + " and " + b)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(List.of(quota(CLUSTER_QUEUE, "a"), quota(CLUSTER_QUEUE, "b")))
                    .containsExactly(a, b));
  }

  /** The effective nominal quota of an object, of its only flavor and resource. */
  private String quota(String kind, String stem) {
    JsonNode nominal =
        jobs.get(kind, cluster.name(stem))
            .at("/status/effectiveQuotas/resourceGroups/0/flavors/0/resources/0/nominalQuota");
    return nominal.isMissingNode() ? "absent" : nominal.asText();
  }

  private void awaitCondition(String kind, String stem, String type, String status, String reason) {
    await(stem + " " + type + " " + reason)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        StreamSupport.stream(
                                jobs.get(kind, cluster.name(stem))
                                    .at("/status/conditions")
                                    .spliterator(),
                                false)
                            .map(
                                it ->
                                    it.path("type").asText()
                                        + " "
                                        + it.path("status").asText()
                                        + " "
                                        + it.path("reason").asText())
                            .collect(Collectors.toSet()))
                    .contains(type + " " + status + " " + reason));
  }
}
