package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs that say where they may go, and what they are told while they wait. */
@MultiClusterTest
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class PlacementIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
  }

  /** Two pods of one CPU each. */
  private void submit(String name, String annotation, String value, String runFor) {
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
            .replace("name: small", "name: " + name)
            .replace(
                "  labels:\n", "  annotations: {" + annotation + ": '" + value + "'}\n  labels:\n")
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: "
                    + runFor
                    + "}}\n"));
  }

  private void limit(String job, String annotation, String value) {
    annotate(clusters.manager(), job, annotation, value);
  }

  private void annotate(KubernetesClient client, String job, String annotation, String value) {
    client
        .batch()
        .v1()
        .jobs()
        .inNamespace(clusters.namespace())
        .withName(job)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}}}".formatted(annotation, value));
  }

  private void runsIn(String job, String cluster) {
    eventually(() -> assertThat(clusters.cluster(job)).isEqualTo(cluster));
  }

  @Test
  void aJobGoesWhereItsLimitsAllow() {
    submit("gpu-tier", "sluice.dev/placement-cluster-selector", "tier in (gpu, tpu)", "1s");
    runsIn("gpu-tier", "remote");
    assertThat(clusters.workload("gpu-tier").getMetadata().getAnnotations())
        .containsEntry("sluice.dev/placement-cluster-selector", "tier in (gpu, tpu)");

    submit("not-gpu", "sluice.dev/placement-cluster-selector", "tier!=gpu", "1s");
    runsIn("not-gpu", "onsite");
  }

  @Test
  void aLimitThatCannotBeReadIsRefused() {
    assertThatThrownBy(
            () -> submit("odd", "sluice.dev/placement-cluster-selector", "tier in gpu", "1s"))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(
            "metadata.annotations[sluice.dev/placement-cluster-selector]: Invalid value: \"tier in"
                + " gpu\": must be requirements separated by commas");
  }

  @Test
  void aJobThatMayGoNowhereWaitsSaysWhyAndGoesWhenItMay() {
    submit("stuck", "sluice.dev/placement-region", "mars", "1s");

    eventually(
        () ->
            assertThat(clusters.checkMessage("stuck"))
                .isEqualTo(
                    "No worker cluster is allowed; onsite: not allowed by"
                        + " sluice.dev/placement-region \"mars\", its region is \"eu\"; remote: not"
                        + " allowed by sluice.dev/placement-region \"mars\", its region is"
                        + " \"us\""));

    limit("stuck", "sluice.dev/placement-region", "mars, us");
    runsIn("stuck", "remote");
  }

  @Test
  void aJobThatWaitsInAWorkerTellsWhatItWaitsFor() {
    submit("first", "sluice.dev/placement-region", "eu", "10m");
    submit("second", "sluice.dev/placement-region", "eu", "10m");
    runsIn("first", "onsite");
    runsIn("second", "onsite");

    submit("third", "sluice.dev/placement-region", "eu", "1s");

    eventually(
        () ->
            assertThat(clusters.checkMessage("third"))
                .startsWith("onsite: waits for quota: ")
                .contains("cpu: 2 requested, 0 available of 4, 2 missing")
                .contains("; remote: not allowed by sluice.dev/placement-region \"eu\""));
    String version = clusters.workload("third").getMetadata().getResourceVersion();
    await()
        .during(Duration.ofSeconds(5))
        .atMost(Duration.ofMinutes(2))
        .until(() -> clusters.workload("third").getMetadata().getResourceVersion().equals(version));
    clusters.endPods(clusters.worker("onsite"), "job-name", "first");
    runsIn("third", "onsite");
  }

  /**
   * docs/preemption.md#checkpoints: all 68 CPUs of the queue are wanted, and the grace is so long
   * that only an answer ends it.
   */
  @Test
  void aJobInAWorkerSavesItsWorkBeforeTheManagerPreemptsIt() {
    submit("saver", "sluice.dev/placement-region", "eu", "10m");
    runsIn("saver", "onsite");
    clusters
        .manager()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"metadata": {"annotations": {"sluice.dev/checkpoint-grace": "2h"}},
             "spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}
            """);
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: urgent, namespace: "${namespace}"}
        spec:
          queueName: analysis
          priority: 100
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "68"}}}]
        """);
    KubernetesClient worker = clusters.worker("onsite");
    eventually(
        () ->
            assertThat(annotations(worker, "saver"))
                .containsKey("sluice.dev/checkpoint-requested-at"));
    assertThat(isEvicted("saver")).isFalse();

    annotate(
        worker, "saver", "sluice.dev/checkpointed-at", Instant.now().plusSeconds(1).toString());

    eventually(() -> assertThat(isEvicted("saver")).isTrue());
    assertThat(annotations(clusters.manager(), "saver")).containsKey("sluice.dev/checkpointed-at");
  }

  private boolean isEvicted(String job) {
    return clusters.workload(job).getStatus().conditions().stream()
        .anyMatch(
            condition ->
                condition.getType().equals("Evicted") && condition.getStatus().equals("True"));
  }

  /** Annotations of a Job that is there, or will be soon. */
  private Map<String, String> annotations(KubernetesClient client, String job) {
    Optional<Job> found =
        Optional.ofNullable(
            client.batch().v1().jobs().inNamespace(clusters.namespace()).withName(job).get());
    return Objects.requireNonNullElse(found.orElseThrow().getMetadata().getAnnotations(), Map.of());
  }

  /** A Topology, a flavor of it, and a queue: in the manager and in a worker. */
  private static final String RACKED =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Topology
      metadata: {name: "racks-${suffix}"}
      spec: {levels: [{nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "racked-${suffix}"}
      spec:
        nodeLabels: {pool: "racked-${suffix}"}
        tolerations: [{key: pool, operator: Exists, effect: NoSchedule}]
        topologyName: "racks-${suffix}"
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: "racked-${suffix}"}
      spec:
        namespaceSelector: {}
        CHECKS
        resourceGroups:
        - coveredResources: [cpu]
          flavors:
          - name: "racked-${suffix}"
            resources: [{name: cpu, nominalQuota: "100"}]
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: racked, namespace: "${namespace}"}
      spec: {clusterQueue: "racked-${suffix}"}
      """;

  /** The nodes of one rack: two of four CPUs, for this test alone. */
  private List<Node> rack(String rack) {
    return FakeNodes.of(
        NodeGroup.plentiful(clusters.name(rack), 2)
            .withCapacity("cpu", "4")
            .withLabel("pool", clusters.name("racked"))
            .withLabel("example.com/rack", rack)
            .withTaint(new NodeTaint("pool", clusters.name("racked"), "NoSchedule")));
  }

  @Test
  void aWorkerWithATopologyPlacesThePodsAndTheManagerDoesNot() {
    KubernetesClient worker = clusters.worker(ManagerAndWorkers.REMOTE);
    List<Node> nodes = new ArrayList<>(rack("r1"));
    nodes.addAll(rack("r2"));
    nodes.forEach(node -> worker.resource(node).create());
    try {
      clusters.apply(worker, RACKED.replace("CHECKS", ""));
      clusters.apply(
          clusters.manager(),
          RACKED.replace(
              "CHECKS",
              "admissionChecksStrategy: {admissionChecks: [{name: \"%s\"}]}"
                  .formatted(clusters.name("clusters"))));
      clusters.apply(
          clusters.manager(),
          """
          apiVersion: batch/v1
          kind: Job
          metadata:
            name: racked
            namespace: "${namespace}"
            labels: {kueue.x-k8s.io/queue-name: racked}
          spec:
            managedBy: kueue.x-k8s.io/multikueue
            parallelism: 2
            completions: 2
            completionMode: Indexed
            template:
              metadata:
                annotations:
                  kueue.x-k8s.io/podset-required-topology: example.com/rack
                  sluice.dev/run-for: 10m
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "4"}}}]
          """);
      eventually(() -> assertThat(clusters.job("racked").getStatus().getActive()).isEqualTo(2));

      assertThat(clusters.cluster("racked")).isEqualTo(ManagerAndWorkers.REMOTE);
      Workload here = clusters.workload("racked");
      JsonNode shown = podSet(here);
      assertThat(shown.path("delayedTopologyRequest").asText()).isEqualTo("Ready");
      assertThat(shown.has("topologyAssignment")).isFalse();
      Workload there =
          worker
              .resources(Workload.class)
              .inNamespace(clusters.namespace())
              .withName(here.getMetadata().getName())
              .require();
      List<String> assigned = hostsOf(podSet(there).path("topologyAssignment"));
      assertThat(podSet(there).has("delayedTopologyRequest")).isFalse();
      assertThat(assigned).hasSize(2).doesNotHaveDuplicates();
      assertThat(assigned.stream().map(host -> host.substring(0, 2)).distinct()).hasSize(1);
      eventually(
          () ->
              assertThat(worker.pods().inNamespace(clusters.namespace()).list().getItems())
                  .extracting(pod -> pod.getSpec().getNodeName())
                  .containsExactlyInAnyOrderElementsOf(assigned));
      assertThat(clusters.manager().pods().inNamespace(clusters.namespace()).list().getItems())
          .isEmpty();
      clusters.manager().resource(clusters.job("racked")).delete();
      eventually(
          () -> assertThat(clusters.podsOf(worker, "racked")).as("pods of a deleted Job").isZero());
    } finally {
      nodes.forEach(node -> worker.resource(node).delete());
    }
  }

  private static JsonNode podSet(Workload workload) {
    return Objects.requireNonNull(workload.getStatus().admission()).at("/podSetAssignments/0");
  }

  private static List<String> hostsOf(JsonNode assignment) {
    return TopologyAssignmentCodec.decode(assignment).domains().stream()
        .map(domain -> domain.values().getLast())
        .toList();
  }
}
