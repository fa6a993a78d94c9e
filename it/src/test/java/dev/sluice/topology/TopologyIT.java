package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Pods of assignments run where the assignments say. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class TopologyIT {

  private static final String REQUIRED =
      "kueue.x-k8s.io/podset-required-topology: example.com/rack,";

  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom());
  }

  /** The queue doesn't exist, so that nobody but the test admits the Workload. */
  @Test
  void podsOfAnAssignmentByHandRunInTheirDomains(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes();
    try (LocalOperator _ =
        LocalOperator.start("operator-of-assignments", cluster.kubeconfig(), settings())) {
      racked.withQueues();
      racked.job("ranked", "none", REQUIRED, 3, 1);
      String workload = racked.jobs().workloadOf(RackedCluster.JOB, "ranked");
      assertThat(
              racked
                  .jobs()
                  .get(QueuedJobs.WORKLOAD, workload)
                  .at("/spec/podSets/0/topologyRequest"))
          .hasToString(
              "{\"podIndexLabel\":\"batch.kubernetes.io/job-completion-index\","
                  + "\"required\":\"example.com/rack\"}");
      admitByHand(cluster, workload, racked.node("b1r2", 1), racked.node("b1r2", 0));
      assertThat(racked.awaitRunning("ranked", 3))
          .isEqualTo(
              Map.of(
                  0, racked.node("b1r2", 1),
                  1, racked.node("b1r2", 0),
                  2, racked.node("b1r2", 0)));
      JsonNode pod = Objects.requireNonNull(racked.pods("ranked").get(2));
      assertThat(pod.at("/spec/nodeSelector").path(RackedCluster.HOST).asText())
          .isEqualTo(racked.node("b1r2", 0));
      assertThat(pod.at("/spec/schedulingGates").isMissingNode()).isTrue();
    }
  }

  /** Four racks of eight CPUs, in two blocks. */
  @Test
  void jobsRunNearEachOtherAsTheyAsk(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes();
    Map<Integer, String> first;
    try (LocalOperator _ =
        LocalOperator.start("operator-of-racks", cluster.kubeconfig(), settings())) {
      racked.withQueues();
      racked.job("tight", "lq", REQUIRED, 4, 2);
      first = racked.awaitRunning("tight", 4);
      assertThat(racks(racked, first)).as("racks of %s", first).hasSize(1);

      racked.job("large", "lq", REQUIRED, 5, 2);
      String large = racked.jobs().workloadOf(RackedCluster.JOB, "large");
      RackedCluster.eventually(
          "explanation of " + large,
          () -> {
            JsonNode reserved = racked.condition(large, "QuotaReserved");
            assertThat(reserved.path("reason").asText()).isEqualTo("TopologyPlacementFailed");
            assertThat(reserved.path("message").asText())
                .contains("needs 5 pods in one example.com/rack");
            assertThat(racked.eventsOf(large)).contains("TopologyPlacementFailed");
          });
      assertThat(racked.pods("large")).isEmpty();
    }
    try (LocalOperator _ =
        LocalOperator.start("operator-of-racks-again", cluster.kubeconfig(), settings())) {
      String preferred = "kueue.x-k8s.io/podset-preferred-topology: example.com/rack,";
      racked.job("near", "lq", preferred, 6, 2);
      Map<Integer, String> near = racked.awaitRunning("near", 6);
      assertThat(racks(racked, near))
          .as("the two racks of the free block")
          .hasSize(2)
          .doesNotContainAnyElementsOf(racks(racked, first));

      String anywhere = "kueue.x-k8s.io/podset-unconstrained-topology: 'true',";
      racked.job("anywhere", "lq", anywhere, 6, 2);
      racked.awaitRunning("anywhere", 6);
      assertThat(racked.nodes("tight")).isEqualTo(first);
      assertThat(racked.pods("large")).isEmpty();

      racked.jobs().delete(RackedCluster.JOB, "tight");
      racked.jobs().delete(RackedCluster.JOB, "large");
      racked.job("next", "lq", REQUIRED, 4, 2);
      assertThat(racks(racked, racked.awaitRunning("next", 4))).hasSize(1);
    }
  }

  /** Four racks, of which none may have more than 24 % of the groups when another one comes. */
  @Test
  void groupsAreSpreadOverRacksAlsoAfterARestart(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes();
    OperatorSettings settings =
        settings()
            .with(
                """
                featureGates: {TASTopologySpreading: true}
                integrations: {labelKeysToCopy: [app]}
                """);
    try (LocalOperator _ =
        LocalOperator.start("operator-of-groups", cluster.kubeconfig(), settings)) {
      racked.withQueues();
      assertThatThrownBy(() -> group(cluster, "refused", "100%"))
          .hasMessageContaining("rules[0].maxShareAllowingPlacement")
          .hasMessageContaining("must be a text from");
      for (String name : List.of("g1", "g2", "g3")) {
        group(cluster, name, "24%");
        racked.awaitRunning(name, 1);
      }
    }
    try (LocalOperator _ =
        LocalOperator.start("operator-of-groups-again", cluster.kubeconfig(), settings)) {
      group(cluster, "g4", "24%");
      racked.awaitRunning("g4", 1);
      List<String> racks = new ArrayList<>();
      List.of("g1", "g2", "g3", "g4")
          .forEach(name -> racks.addAll(racks(racked, racked.nodes(name))));
      assertThat(racks).doesNotHaveDuplicates().hasSize(4);

      group(cluster, "g5", "24%");
      String waiting = racked.jobs().workloadOf(RackedCluster.JOB, "g5");
      RackedCluster.eventually(
          "explanation of " + waiting,
          () ->
              assertThat(racked.condition(waiting, "QuotaReserved").path("message").asText())
                  .contains(
                      "4 of the domains of example.com/rack",
                      "take no other group: each has more than 24 % of the 4 that are spread"));
      assertThat(racked.condition(waiting, "QuotaReserved").path("reason").asText())
          .isEqualTo("TopologySpreadConstraintNotMet");
      racked.jobs().delete(RackedCluster.JOB, "g2");
      assertThat(racks(racked, racked.awaitRunning("g5", 1))).containsExactly(racks.get(1));

      group(cluster, "idle", "example.com/zone", "24%");
      racked.awaitRunning("idle", 1);
      String idle = racked.jobs().workloadOf(RackedCluster.JOB, "idle");
      RackedCluster.eventually(
          "a rule of no level to be told of " + idle,
          () ->
              assertThat(
                      racked.condition(idle, "TopologySpreadKeyNotFound").path("status").asText())
                  .isEqualTo("True"));
    }
  }

  /** A Job of one pod, which is a group of the service {@code model}. */
  private static void group(TestCluster cluster, String name, String maxShare) {
    group(cluster, name, "example.com/rack", maxShare);
  }

  private static void group(TestCluster cluster, String name, String key, String maxShare) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq, app: model}
        spec:
          parallelism: 1
          completions: 1
          completionMode: Indexed
          template:
            metadata:
              annotations:
                sluice.dev/run-for: "60m"
                kueue.x-k8s.io/podset-required-topology: example.com/rack
                kueue.x-k8s.io/podset-topology-spreading: >-
                  {"workloadLabelSelectors": [{"key": "app", "operator": "In", "values": ["model"]}],
                   "rules": [{"topologyKey": "%s", "maxShareAllowingPlacement": "%s"}]}
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """
            .formatted(name, key, maxShare));
  }

  @Test
  void failedNodesAreReplacedWithinTheRackOrTheJobMovesToAnother(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes(3);
    try (LocalOperator _ =
        LocalOperator.start("operator-of-failed-nodes", cluster.kubeconfig(), settings())) {
      racked.withQueues();
      racked.job("robust", "lq", REQUIRED, 3, 2);
      racked.awaitRunning("robust", 3);
      String workload = racked.jobs().workloadOf(RackedCluster.JOB, "robust");
      String lost = racked.node("b1r1", 0);
      String stays = racked.node("b1r1", 1);
      String spare = racked.node("b1r1", 2);
      assertThat(racked.running("robust")).isEqualTo(Map.of(lost, 2, stays, 1));

      racked.removeNode(lost);
      RackedCluster.eventually(
          "replacement of " + lost,
          () -> assertThat(racked.assigned("robust")).isEqualTo(Map.of(stays, 1, spare, 2)));
      racked.removePodsOf("robust", lost);
      RackedCluster.eventually(
          "pods on " + spare,
          () -> assertThat(racked.running("robust")).isEqualTo(Map.of(stays, 1, spare, 2)));
      JsonNode status = racked.jobs().get(QueuedJobs.WORKLOAD, workload).path("status");
      assertThat(status.path("unhealthyNodes")).isEmpty();
      strayPodsAreEnded(cluster, racked, workload, lost);
      assertThat(racked.condition(workload, "Evicted").isMissingNode()).isTrue();
      assertThat(status.at("/admission/podSetAssignments/0/resourceUsage/cpu").asText())
          .isEqualTo("6");

      racked.removeNode(spare);
      RackedCluster.eventually(
          "eviction of " + workload,
          () ->
              assertThat(racked.eventsOf(workload))
                  .contains("SecondPassFailed", "EvictedDueToNodeFailures"));
      racked.removePodsOf("robust", spare);
      Map<Integer, String> moved = racked.awaitRunning("robust", 3);
      assertThat(racks(racked, moved)).hasSize(1).doesNotContain("b1r1");
      assertThat(racked.assigned("robust")).isEqualTo(racked.running("robust"));
    }
  }

  @Test
  void nodesMayHaveAnotherHostnameThanTheirName(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster);
    for (String stem : List.of("one", "two", "three")) {
      racked.addNode(stem, "b1r1", cluster.name("host-" + stem));
    }
    String one = cluster.name("host-one");
    String two = cluster.name("host-two");
    String three = cluster.name("host-three");
    try (LocalOperator _ =
        LocalOperator.start("operator-of-hostnames", cluster.kubeconfig(), settings())) {
      racked.withQueues();
      racked.job("named", "lq", REQUIRED, 3, 2);
      racked.awaitRunning("named", 3);
      String workload = racked.jobs().workloadOf(RackedCluster.JOB, "named");
      Map<String, Integer> places = racked.assigned("named");
      assertThat(places).hasSize(2);
      assertThat(Set.of(one, two, three)).containsAll(places.keySet());

      String lost = racked.running("named").keySet().iterator().next();
      racked.removeNode(lost);
      RackedCluster.eventually(
          "replacement of " + lost,
          () ->
              assertThat(racked.assigned("named").keySet())
                  .hasSize(2)
                  .isNotEqualTo(places.keySet()));
      racked.removePodsOf("named", lost);
      RackedCluster.eventually(
          "pods on other nodes",
          () -> assertThat(racked.running("named")).hasSize(2).doesNotContainKey(lost));
      assertThat(racked.condition(workload, "Evicted").isMissingNode()).isTrue();
      assertThat(racked.jobs().get(QueuedJobs.WORKLOAD, workload).at("/status/unhealthyNodes"))
          .isEmpty();
    }
  }

  /** One comes late, for a node that was replaced; the Workload of the other has no admission. */
  private static void strayPodsAreEnded(
      TestCluster cluster, RackedCluster racked, String workload, String lost) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: idle}
        spec:
          podSets:
          - name: main
            template: {spec: {restartPolicy: Never, containers: [{name: c, image: none}]}}
        """);
    for (String owner : List.of(workload, "idle")) {
      cluster.applyText(
          """
          apiVersion: v1
          kind: Pod
          metadata:
            name: stray-of-%1$s
            annotations:
              kueue.x-k8s.io/workload: %1$s
              kueue.x-k8s.io/podset-required-topology: example.com/rack
          spec:
            nodeSelector: {kubernetes.io/hostname: %2$s}
            containers: [{name: c, image: none}]
          """
              .formatted(owner, lost));
    }
    for (String owner : List.of(workload, "idle")) {
      RackedCluster.eventually(
          "the end of the stray pod of " + owner,
          () -> {
            JsonNode pod = racked.jobs().get("v1/Pod", "stray-of-" + owner);
            assertThat(pod.at("/status/phase").asText()).isEqualTo("Failed");
            assertThat(pod.at("/status/conditions").findValuesAsText("reason"))
                .contains("UnschedulableOnAssignedNode");
          });
    }
  }

  /** A pod of no queue that says of itself that a Workload was assigned to its node. */
  private static void stranger(TestCluster cluster, String node) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: on-%1$s
          annotations:
            kueue.x-k8s.io/workload: made-up
            kueue.x-k8s.io/podset-required-topology: example.com/rack
            sluice.dev/run-for: "60m"
          labels: {kueue.x-k8s.io/podset: main}
        spec:
          nodeName: %1$s
          restartPolicy: Never
          tolerations: [{operator: Exists}]
          containers: [{name: main, image: none, resources: {requests: {cpu: "4"}}}]
        """
            .formatted(node));
  }

  /** A Job of one pod of a whole node, which also waits at a gate of its user. */
  private static void gatedJob(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: late, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          completionMode: Indexed
          completions: 1
          template:
            metadata:
              annotations:
                kueue.x-k8s.io/podset-required-topology: example.com/rack
                sluice.dev/run-for: "60m"
            spec:
              schedulingGates: [{name: example.com/wait}]
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "4"}}}]
        """);
  }

  @Test
  void podsOfStrangersTakeRoomWhateverTheySayAndWheneverTheyCome(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes();
    List<String> free = List.of(racked.node("b2r1", 1), racked.node("b2r2", 1));
    try (LocalOperator _ =
        LocalOperator.start("operator-among-strangers", cluster.kubeconfig(), settings())) {
      racked.withQueues();
      for (String rack : List.of("b1r1", "b1r2", "b2r1", "b2r2")) {
        for (int i = 0; i < 2; i++) {
          if (!free.contains(racked.node(rack, i))) {
            stranger(cluster, racked.node(rack, i));
          }
        }
      }
      RackedCluster.eventually(
          "strangers run",
          () ->
              assertThat(racked.jobs().pods())
                  .hasSize(6)
                  .allMatch(pod -> pod.at("/status/phase").asText().equals("Running")));

      gatedJob(cluster);
      RackedCluster.eventually(
          "place of the Job",
          () ->
              assertThat(racked.pods("late").values())
                  .singleElement()
                  .satisfies(
                      pod ->
                          assertThat(pod.at("/spec/nodeSelector"))
                              .anyMatch(value -> free.contains(value.asText()))));
      String first = racked.assigned("late").keySet().iterator().next();

      // Somebody takes the node between the decision and the pod.
      stranger(cluster, first);
      JsonNode pod = Objects.requireNonNull(racked.pods("late").get(0));
      racked
          .jobs()
          .patch(
              "v1/Pod", pod.at("/metadata/name").asText(), "{'spec': {'schedulingGates': null}}");
      String other = free.get(1 - free.indexOf(first));
      RackedCluster.eventually(
          "another place than " + first,
          () -> {
            assertThat(racked.assigned("late")).containsOnlyKeys(other);
            List<JsonNode> pods =
                racked.jobs().pods().stream()
                    .filter(it -> it.at("/metadata/name").asText().startsWith("late-"))
                    .toList();
            pods.stream()
                .filter(it -> !it.at("/spec/schedulingGates").isEmpty())
                .forEach(it -> openOwnGate(cluster, it.at("/metadata/name").asText()));
            // The pod that was sent to the full node has failed, and is still there.
            assertThat(pods)
                .filteredOn(it -> it.at("/status/phase").asText().equals("Running"))
                .extracting(it -> it.at("/spec/nodeName").asText())
                .containsExactly(other);
          });
      String workload = racked.jobs().workloadOf(RackedCluster.JOB, "late");
      assertThat(racked.condition(workload, "Evicted").isMissingNode()).isTrue();
      assertThat(racked.jobs().get(QueuedJobs.WORKLOAD, workload).at("/status/unhealthyNodes"))
          .isEmpty();
    }
  }

  /** Takes the gate of a pod's user off, whatever the operator does to the others meanwhile. */
  private static void openOwnGate(TestCluster cluster, String pod) {
    cluster
        .client()
        .pods()
        .inNamespace(cluster.namespace())
        .withName(pod)
        .patch(
            PatchContext.of(PatchType.STRATEGIC_MERGE),
            """
            {"spec": {"schedulingGates": [{"$patch": "delete", "name": "example.com/wait"}]}}\
            """);
  }

  private static Set<String> racks(RackedCluster racked, Map<Integer, String> nodes) {
    return nodes.values().stream().map(racked::rackOf).collect(Collectors.toSet());
  }

  private static void admitByHand(
      TestCluster cluster, String workload, String first, String second) {
    String condition =
        "{\"type\": \"%s\", \"status\": \"True\", \"reason\": \"Test\", \"message\": \"\","
            + " \"lastTransitionTime\": \""
            + Instant.now().truncatedTo(ChronoUnit.SECONDS)
            + "\"}";
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .withName(workload)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {
              "conditions": [%s, %s],
              "admission": {"clusterQueue": "%s", "podSetAssignments": [{
                "name": "main", "count": 3, "flavors": {"cpu": "%s"},
                "resourceUsage": {"cpu": "3"},
                "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "slices": [{
                  "domainCount": 2, "podCounts": {"individual": [1, 2]},
                  "valuesPerLevel": [{"individual": {"roots": ["%s", "%s"]}}]}]}}]}}}
            """
                .formatted(
                    condition.formatted("QuotaReserved"),
                    condition.formatted("Admitted"),
                    cluster.name("cq"),
                    cluster.name("racked"),
                    first,
                    second));
  }
}
