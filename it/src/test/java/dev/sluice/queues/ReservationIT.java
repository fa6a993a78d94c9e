package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Before its start nothing is admitted onto reserved capacity that would outlive it; what can be
 * preempted stays until then; a flavor under maintenance is empty on time.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
class ReservationIT {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void capacityIsThereForItsUsersWhenItsTimeComes(TestCluster cluster) throws Exception {
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    try (OperatorProcess operator =
        OperatorProcess.start(
                "reservation",
                cluster.kubeconfig(),
                settings,
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      refuses(cluster);
      keepsNothingBeforeItsQueue(cluster, settings);
      createQueues(cluster);
      Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      reserve(cluster, "firm", now.plusSeconds(3_600), now.plusSeconds(7_200));
      await("its status")
          .atMost(LIMIT)
          .until(
              () ->
                  object(cluster, "CapacityReservation", "firm")
                      .at("/status/state")
                      .asText()
                      .equals("Upcoming"));

      submit(cluster, "endless", "guests-firm", "", 4);
      awaitMessage(
          cluster,
          "endless",
          "CapacityReserved: held for CapacityReservation "
              + cluster.name("firm")
              + " from "
              + now.plusSeconds(3_600)
              + " to "
              + now.plusSeconds(7_200)
              + ", which keeps 8 of cpu in "
              + cluster.name("any"));
      submit(cluster, "short", "guests-firm", "600", 4);
      submit(cluster, "user", "users-firm", "", 4);
      awaitReserving(cluster, Set.of("short", "user"));
      assertThat(reserving(cluster)).doesNotContain("endless");

      // What can be preempted may stay until the start.
      submit(cluster, "guest", "guests-soft", "", 4);
      awaitReserving(cluster, Set.of("short", "user", "guest"));
      Instant soon = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(5);
      reserve(cluster, "soft", soon, soon.plusSeconds(3_600));
      await("the guest to go")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(condition(workload(cluster, "guest"), "Evicted"))
                      .hasValueSatisfying(
                          evicted -> {
                            assertThat(evicted.path("reason").asText())
                                .isEqualTo("CapacityReserved");
                            assertThat(evicted.path("message").asText())
                                .startsWith(
                                    "Evicted for CapacityReservation " + cluster.name("soft"));
                            assertThat(Instant.parse(evicted.path("lastTransitionTime").asText()))
                                .isAfterOrEqualTo(soon);
                          }));
      assertThat(
              Instant.parse(
                  workload(cluster, "guest")
                      .path("metadata")
                      .path("annotations")
                      .path("sluice.dev/checkpoint-requested-at")
                      .asText()))
          .isBetween(soon.minusSeconds(4), soon);
      awaitMessage(cluster, "guest", "CapacityReserved: held for CapacityReservation ");
      awaitTold(cluster, settings);
      submit(cluster, "expected", "users-soft", "", 8);
      awaitReserving(cluster, Set.of("short", "user", "expected"));

      cluster.applyText(
          """
          apiVersion: sluice.dev/v1alpha1
          kind: MaintenanceWindow
          metadata: {name: "rack-${suffix}"}
          spec:
            flavors: ["any-${suffix}"]
            start: "%s"
            end: "%s"
          """
              .formatted(now.minusSeconds(60), now.plusSeconds(3_600)));
      await("an empty rack").atMost(LIMIT).until(() -> reserving(cluster).isEmpty());
      awaitMessage(cluster, "user", "MaintenanceWindow " + cluster.name("rack"));
      cluster
          .client()
          .genericKubernetesResources("sluice.dev/v1alpha1", "MaintenanceWindow")
          .withName(cluster.name("rack"))
          .delete();
      awaitReserving(cluster, Set.of("short", "user", "expected"));
      assertThat(operator.stop()).isTrue();
    }
  }

  @Test
  void aRackIsEmptyOnTime(TestCluster cluster) {
    OperatorSettings settings = OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
    String rackLabel = "rack-" + cluster.name("t");
    try (OperatorProcess operator =
        OperatorProcess.start(
                "window-of-nodes",
                cluster.kubeconfig(),
                settings,
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      for (String rack : List.of("r1", "r2")) {
        FakeNodes.of(
                NodeGroup.plentiful(cluster.name(rack), 2)
                    .withCapacity("cpu", "4")
                    .withLabel(rackLabel, rack))
            .forEach(node -> cluster.client().resource(node).create());
      }
      createRacks(cluster, rackLabel);
      Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      maintain(cluster, rackLabel, now.plusSeconds(3_600));
      submitToRack(cluster, "long", "", rackLabel);
      awaitReserving(cluster, Set.of("long"));
      assertThat(nodes(cluster, "long")).allMatch(node -> node.startsWith(cluster.name("r2")));
      submitToRack(cluster, "short", "600", rackLabel);
      awaitReserving(cluster, Set.of("long", "short"));
      assertThat(nodes(cluster, "short"))
          .hasSize(2)
          .allMatch(node -> node.startsWith(cluster.name("r1")));
      cluster
          .client()
          .batch()
          .v1()
          .jobs()
          .inNamespace(cluster.namespace())
          .withName("short")
          .delete();
      awaitReserving(cluster, Set.of("long"));
      submitToRack(cluster, "endless", "", rackLabel);
      awaitMessage(cluster, "endless", "keeps nodes with " + rackLabel + "=r1 empty");

      submitToRack(cluster, "inside", "600", rackLabel);
      awaitReserving(cluster, Set.of("long", "inside"));
      Instant soon = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(5);
      maintain(cluster, rackLabel, soon);
      await("an empty rack").atMost(LIMIT).until(() -> reserving(cluster).equals(Set.of("long")));
      JsonNode evicted = condition(workload(cluster, "inside"), "Evicted").orElseThrow();
      assertThat(evicted.path("reason").asText()).isEqualTo("CapacityReserved");
      assertThat(Instant.parse(evicted.path("lastTransitionTime").asText()))
          .isBetween(soon, soon.plusSeconds(5));
      assertThat(operator.stop()).isTrue();
    }
  }

  private static void createRacks(TestCluster cluster, String rackLabel) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Topology
        metadata: {name: "racks-${suffix}"}
        spec: {levels: [{nodeLabel: %1$s}, {nodeLabel: kubernetes.io/hostname}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "placed-${suffix}"}
        spec: {nodeLabels: {kubernetes.io/os: linux}, topologyName: "racks-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "placed-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "placed-${suffix}", resources: [{name: cpu, nominalQuota: 100}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: placed}
        spec: {clusterQueue: "placed-${suffix}"}
        """
            .formatted(rackLabel));
  }

  private static void maintain(TestCluster cluster, String rackLabel, Instant start) {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: MaintenanceWindow
        metadata: {name: "r1-${suffix}"}
        spec:
          nodeLabels: {%s: r1}
          start: "%s"
          end: "%s"
        """
            .formatted(rackLabel, start, start.plusSeconds(3_600)));
  }

  /** Two pods of 3 CPUs, which need both nodes of a rack. */
  private static void submitToRack(
      TestCluster cluster, String name, String limit, String rackLabel) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: placed%s}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata:
              annotations: {sluice.dev/run-for: 10m, kueue.x-k8s.io/podset-required-topology: %s}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "3"}}}]
        """
            .formatted(name, limitLabel(limit), rackLabel));
  }

  private static String limitLabel(String limit) {
    return limit.isEmpty() ? "" : ", kueue.x-k8s.io/max-exec-time-seconds: \"" + limit + "\"";
  }

  private static List<String> nodes(TestCluster cluster, String job) {
    List<String> nodes = new ArrayList<>();
    for (JsonNode podSet :
        workload(cluster, job).path("status").path("admission").path("podSetAssignments")) {
      TopologyAssignmentCodec.decode(podSet.path("topologyAssignment"))
          .domains()
          .forEach(domain -> nodes.addAll(domain.values()));
    }
    return nodes;
  }

  /** The begin is an event beside the object, and which object keeps capacity is a metric. */
  private static void awaitTold(TestCluster cluster, OperatorSettings settings) {
    await("an event")
        .atMost(LIMIT)
        .until(
            () ->
                cluster.client().events().v1().events().inAnyNamespace().list().getItems().stream()
                    .anyMatch(
                        event ->
                            event.getReason().equals("ReservationBegan")
                                && event.getRegarding().getName().equals(cluster.name("soft"))));
    MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
    await("the metric")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(metrics.get(metrics.token()).body())
                    .containsPattern(series(cluster.name("soft"), 1))
                    .containsPattern(series(cluster.name("firm"), 0)));
  }

  private static String series(String name, int value) {
    return "sluice_reservation_current\\{[^}]*kind=\"CapacityReservation\"[^}]*name=\"%s\"[^}]*} %d"
        .formatted(name, value);
  }

  /** A reservation of a queue that comes later says so, and counts from then on. */
  private static void keepsNothingBeforeItsQueue(TestCluster cluster, OperatorSettings settings)
      throws Exception {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    reserve(cluster, "firm", now.minusSeconds(60), now.plusSeconds(3_600));
    awaitActive(cluster, "False", "Invalid", "counts nothing: no ClusterQueue " + queue(cluster));
    MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
    assertThat(metrics.get(metrics.token()).body())
        .containsPattern(series(cluster.name("firm"), 0));
    createQueues(cluster);
    awaitActive(cluster, "True", "Current", "Everything is understood");
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(queue(cluster))
        .delete();
    awaitActive(cluster, "False", "Invalid", "counts nothing: no ClusterQueue " + queue(cluster));
    cluster
        .client()
        .genericKubernetesResources("sluice.dev/v1alpha1", "CapacityReservation")
        .withName(cluster.name("firm"))
        .delete();
  }

  private static String queue(TestCluster cluster) {
    return cluster.name("firm");
  }

  private static void awaitActive(
      TestCluster cluster, String status, String state, String message) {
    await("what is said of the reservation")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode reservation = object(cluster, "CapacityReservation", "firm");
              assertThat(reservation.at("/status/state").asText()).isEqualTo(state);
              assertThat(condition(reservation, "Active"))
                  .hasValueSatisfying(
                      active -> {
                        assertThat(active.path("status").asText()).isEqualTo(status);
                        assertThat(active.path("message").asText()).isEqualTo(message);
                      });
            });
  }

  /** Everything that a webhook or the schema refuses names the field. */
  private static void refuses(TestCluster cluster) {
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: MaintenanceWindow
                    metadata: {name: "wrong-${suffix}"}
                    spec:
                      flavors: [any]
                      schedule:
                        timeZone: Mars/Olympus
                        times: [{days: [Monday], from: "08:00", to: "18:00"}]
                    """))
        .hasMessageContaining("spec.schedule.timeZone")
        .hasMessageContaining("Mars/Olympus")
        .hasMessageContaining("IANA");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: MaintenanceWindow
                    metadata: {name: "wrong-${suffix}"}
                    spec: {flavors: [any], start: "2026-01-01T00:00:00Z"}
                    """))
        .hasMessageContaining("either start and end, or schedule");
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: sluice.dev/v1alpha1
                    kind: CapacityReservation
                    metadata: {name: "wrong-${suffix}"}
                    spec:
                      clusterQueue: any
                      capacity: [{flavor: any, resource: cpu, amount: 8}]
                      users: {priorityClasses: [urgent]}
                      start: "2026-01-02T00:00:00Z"
                      end: "2026-01-01T00:00:00Z"
                    """))
        .hasMessageContaining("spec.end")
        .hasMessageContaining("must be after spec.start");
  }

  private static void createQueues(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "any-${suffix}"}
        """);
    for (String queue : List.of("firm", "soft")) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "%1$s-${suffix}", annotations: {sluice.dev/checkpoint-grace: 3s}}
          spec:
            namespaceSelector: {}
            preemption: {withinClusterQueue: %2$s}
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: "any-${suffix}", resources: [{name: cpu, nominalQuota: 10}]}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: "users-%1$s"}
          spec: {clusterQueue: "%1$s-${suffix}"}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: "guests-%1$s"}
          spec: {clusterQueue: "%1$s-${suffix}"}
          """
              .formatted(queue, queue.equals("soft") ? "LowerPriority" : "Never"));
    }
  }

  private static void reserve(TestCluster cluster, String queue, Instant start, Instant end) {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: CapacityReservation
        metadata: {name: "%1$s-${suffix}"}
        spec:
          clusterQueue: "%1$s-${suffix}"
          capacity: [{flavor: "any-${suffix}", resource: cpu, amount: 8}]
          users: {localQueues: [{namespace: "${namespace}", name: "users-%1$s"}]}
          start: "%2$s"
          end: "%3$s"
        """
            .formatted(queue, start, end));
  }

  private static void submit(
      TestCluster cluster, String name, String queue, String limit, int cpu) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s%s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(name, queue, limitLabel(limit), cpu));
  }

  private static JsonNode object(TestCluster cluster, String kind, String stem) {
    return JSON.valueToTree(
        cluster
            .client()
            .genericKubernetesResources("sluice.dev/v1alpha1", kind)
            .withName(cluster.name(stem))
            .get());
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

  private static String job(JsonNode workload) {
    return workload.path("metadata").path("ownerReferences").path(0).path("name").asText();
  }

  private static JsonNode workload(TestCluster cluster, String job) {
    return workloads(cluster).stream()
        .filter(each -> job(each).equals(job))
        .findFirst()
        .orElseGet(JSON::createObjectNode);
  }

  private static Optional<JsonNode> condition(JsonNode object, String type) {
    for (JsonNode each : object.path("status").path("conditions")) {
      if (each.path("type").asText().equals(type)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  private static Set<String> reserving(TestCluster cluster) {
    return Set.copyOf(
        workloads(cluster).stream()
            .filter(
                each ->
                    condition(each, "QuotaReserved")
                        .filter(found -> found.path("status").asText().equals("True"))
                        .isPresent())
            .map(ReservationIT::job)
            .toList());
  }

  private static void awaitReserving(TestCluster cluster, Set<String> jobs) {
    await("quota for " + jobs)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(reserving(cluster)).isEqualTo(jobs));
  }

  private static void awaitMessage(TestCluster cluster, String job, String text) {
    await(job + " to be held")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(condition(workload(cluster, job), "QuotaReserved"))
                    .hasValueSatisfying(
                        found -> {
                          assertThat(found.path("reason").asText()).isEqualTo("WaitingForQuota");
                          assertThat(found.path("message").asText()).contains(text);
                        }));
  }
}
