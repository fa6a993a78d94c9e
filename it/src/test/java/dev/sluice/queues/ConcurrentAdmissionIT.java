package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A Job starts once, in the flavor that has room first, and moves to the one that is preferred. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
class ConcurrentAdmissionIT {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> GATE = List.of("--feature-gates", "ConcurrentAdmission=true");

  /** A queue that tries its flavors at the same time; these are to follow. */
  private static final String TRIED =
      """
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: tried}
      spec: {clusterQueue: "tried-${suffix}"}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: "tried-${suffix}"}
      spec:
        namespaceSelector: {}
        queueingStrategy: BestEffortFIFO
        concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors}}
        resourceGroups:
        - coveredResources: [cpu]
          flavors:
      """;

  private static final String QUEUES =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "reserved-${suffix}"}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "spot-${suffix}"}
      """
          + TRIED
          + """
              - {name: "reserved-${suffix}", resources: [{name: cpu, nominalQuota: 1}]}
              - {name: "spot-${suffix}", resources: [{name: cpu, nominalQuota: 1}]}
          """;

  private static OperatorProcess start(TestCluster cluster, OperatorSettings settings) {
    return OperatorProcess.start(
            "concurrent", cluster.kubeconfig(), settings, Path.of("target", "operators"), GATE)
        .awaitReady();
  }

  @Test
  void aJobStartsOnceAndMovesToThePreferredFlavor(TestCluster cluster) {
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    OperatorProcess operator = start(cluster, settings);
    try {
      cluster.applyText(QUEUES);
      submit(cluster, "first");
      awaitRunsIn(cluster, "first", "reserved");
      submit(cluster, "second");
      awaitRunsIn(cluster, "second", "spot");
      assertThat(variants(cluster, "second")).hasSize(2);

      submit(cluster, "third");
      await("two variants that wait")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(variants(cluster, "third"))
                      .hasSize(2)
                      .allMatch(each -> condition(each, "QuotaReserved").equals("False")));
      operator.kill();
      cluster
          .client()
          .batch()
          .v1()
          .jobs()
          .inNamespace(cluster.namespace())
          .withName("first")
          .delete();
      JsonNode variant = variant(cluster, "third", "reserved").orElseThrow();
      admitAsTheOperatorWould(cluster, variant);
      operator = start(cluster, settings);

      awaitRunsIn(cluster, "third", "reserved");
      await("one start")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(starts(cluster, "third")).isEqualTo(1));

      cluster
          .client()
          .batch()
          .v1()
          .jobs()
          .inNamespace(cluster.namespace())
          .withName("third")
          .delete();
      awaitRunsIn(cluster, "second", "reserved");
      assertThat(evictions(parent(cluster, "second").orElseThrow())).contains("VariantEvicted");
      assertThat(evictions(variant(cluster, "second", "spot").orElseThrow()))
          .contains("FlavorMigration");
      await("the variant of the later flavor to be set aside")
          .atMost(LIMIT)
          .until(
              () ->
                  !variant(cluster, "second", "spot").orElseThrow().at("/spec/active").asBoolean());
      await("events")
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(events(cluster)).contains("CreatedVariant", "DeactivatedVariant"));
      assertThat(operator.stop()).isTrue();
    } finally {
      operator.close();
    }
  }

  private static final String PLACES =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Topology
      metadata: {name: "hosts-${suffix}"}
      spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "placed-${suffix}"}
      spec: {nodeLabels: {pool: "pool-${suffix}"}, topologyName: "hosts-${suffix}"}
      """
          + TRIED
          + """
              - {name: "placed-${suffix}", resources: [{name: cpu, nominalQuota: 10}]}
          """;

  /** The variant hears of the node that its parent lost, and the parent gets the new place. */
  @Test
  void aLostNodeIsReplaced(TestCluster cluster) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("place"), 2).withLabel("pool", cluster.name("pool")));
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    try (OperatorProcess operator = start(cluster, settings)) {
      cluster.applyText(PLACES);
      submit(cluster, "placed");
      awaitRunsIn(cluster, "placed", "placed");
      String lost = host(parent(cluster, "placed").orElseThrow());
      assertThat(lost).startsWith(cluster.name("place"));
      assertThat(host(variant(cluster, "placed", "placed").orElseThrow())).isEqualTo(lost);

      cluster.client().nodes().withName(lost).withGracePeriod(0).delete();
      await("another node")
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                JsonNode parent = parent(cluster, "placed").orElseThrow();
                JsonNode variant = variant(cluster, "placed", "placed").orElseThrow();
                assertThat(host(parent)).startsWith(cluster.name("place")).isNotEqualTo(lost);
                assertThat(host(variant)).isEqualTo(host(parent));
                assertThat(parent.at("/status/unhealthyNodes")).isEmpty();
                assertThat(variant.at("/status/unhealthyNodes")).isEmpty();
              });
      awaitRunsIn(cluster, "placed", "placed");
      assertThat(evictions(parent(cluster, "placed").orElseThrow())).isEmpty();
      assertThat(operator.stop()).isTrue();
    }
  }

  /** The first node of an assignment. */
  private static String host(JsonNode workload) {
    return TopologyAssignmentCodec.decode(
            workload.at("/status/admission/podSetAssignments/0/topologyAssignment"))
        .domains()
        .getFirst()
        .values()
        .getLast();
  }

  /** What an operator writes that is killed before it gives the parent its admission. */
  private static void admitAsTheOperatorWould(TestCluster cluster, JsonNode variant) {
    String podSet = variant.at("/spec/podSets/0/name").asText();
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .withName(variant.at("/metadata/name").asText())
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"admission": {"clusterQueue": "%1$s", "podSetAssignments": [
              {"name": "%2$s", "count": 1, "flavors": {"cpu": "%3$s"}, "resourceUsage": {"cpu": "1"}}]},
             "conditions": [
              {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved",
               "message": "", "lastTransitionTime": "%4$s"},
              {"type": "Admitted", "status": "True", "reason": "Admitted",
               "message": "", "lastTransitionTime": "%4$s"}]}}
            """
                .formatted(
                    cluster.name("tried"),
                    podSet,
                    cluster.name("reserved"),
                    Instant.now().truncatedTo(ChronoUnit.SECONDS)));
  }

  private static List<JsonNode> workloads(TestCluster cluster) {
    return cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .<JsonNode>map((GenericKubernetesResource each) -> JSON.valueToTree(each))
        .toList();
  }

  private static Optional<JsonNode> parent(TestCluster cluster, String job) {
    return workloads(cluster).stream()
        .filter(each -> owner(each, "kind").equals("Job") && owner(each, "name").equals(job))
        .filter(
            each ->
                each.path("metadata")
                    .path("labels")
                    .path("kueue.x-k8s.io/concurrent-admission-parent")
                    .asText()
                    .equals("true"))
        .findFirst();
  }

  private static List<JsonNode> variants(TestCluster cluster, String job) {
    String uid =
        parent(cluster, job).map(each -> each.at("/metadata/uid").asText()).orElse("absent");
    return workloads(cluster).stream().filter(each -> owner(each, "uid").equals(uid)).toList();
  }

  private static Optional<JsonNode> variant(TestCluster cluster, String job, String flavor) {
    return variants(cluster, job).stream()
        .filter(
            each ->
                each.path("metadata")
                    .path("annotations")
                    .path("kueue.x-k8s.io/workload-allowed-resource-flavors")
                    .asText()
                    .equals(cluster.name(flavor)))
        .findFirst();
  }

  private static String owner(JsonNode workload, String field) {
    return workload.path("metadata").path("ownerReferences").path(0).path(field).asText();
  }

  private static String flavor(JsonNode workload) {
    return workload.at("/status/admission/podSetAssignments/0/flavors/cpu").asText();
  }

  private static String condition(JsonNode object, String type) {
    for (JsonNode each : object.path("status").path("conditions")) {
      if (each.path("type").asText().equals(type)) {
        return each.path("status").asText();
      }
    }
    return "";
  }

  private static String evictions(JsonNode workload) {
    return workload.at("/status/schedulingStats/evictions").toString();
  }

  /** The parent runs in a flavor, and so does exactly one variant of it. */
  private static void awaitRunsIn(TestCluster cluster, String job, String flavor) {
    await(job + " to run in " + flavor)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(parent(cluster, job)).isPresent();
              JsonNode parent = parent(cluster, job).orElseThrow();
              assertThat(condition(parent, "Admitted")).isEqualTo("True");
              assertThat(flavor(parent)).isEqualTo(cluster.name(flavor));
              assertThat(
                      variants(cluster, job).stream()
                          .filter(each -> condition(each, "QuotaReserved").equals("True"))
                          .map(ConcurrentAdmissionIT::flavor))
                  .containsExactly(cluster.name(flavor));
              assertThat(
                      cluster
                          .client()
                          .batch()
                          .v1()
                          .jobs()
                          .inNamespace(cluster.namespace())
                          .withName(job)
                          .get()
                          .getSpec()
                          .getSuspend())
                  .isFalse();
            });
  }

  private static long starts(TestCluster cluster, String job) {
    return cluster.events().stream()
        .filter(event -> event.getRegarding().getName().equals(job))
        .filter(event -> event.getReason().equals("Started"))
        .count();
  }

  private static List<String> events(TestCluster cluster) {
    return cluster.events().stream().map(event -> event.getReason()).toList();
  }

  private static void submit(TestCluster cluster, String name) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: tried}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name));
  }
}
