package dev.sluice.jobs.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.recovery.FailureRecoveryController.UnreachableNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The node of two Jobs falls silent. It has no kubelet, so their pods never end; the cluster's own
 * node controller gives it the taint of unreachable nodes.
 */
@OperatorTest(configuration = "featureGates: {FailureRecoveryPolicy: true}")
@Tag(BuildBreadth.NIGHTLY)
class FailureRecoveryIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String POD = "v1/Pod";

  /** Keeps a deleted pod, so that it can be looked at. */
  private static final String HELD = "example.com/held";

  private QueuedJobs jobs;
  private TestCluster cluster;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    jobs = new QueuedJobs(own);
  }

  @Test
  void aPodThatAllowsItIsDeletedByForceAndTheOthersStay(TestCluster own) {
    own.createNodes(NodeGroup.plentiful(own.name("healthy"), 1));
    Node node = givenNode(own.name("silent"));
    jobs.givenQueues(4);
    job("safe", "true");
    job("careful", "false");
    String safe = podOf("safe");
    String careful = podOf("careful");
    List.of(safe, careful)
        .forEach(
            pod ->
                await("node of " + pod)
                    .atMost(LIMIT)
                    .until(() -> !jobs.get(POD, pod).at("/spec/nodeName").asText().isEmpty()));

    ready(node, "Unknown");
    await("taint")
        .atMost(LIMIT)
        .until(
            () ->
                own.client().resource(node).get().getSpec().getTaints().stream()
                    .anyMatch(taint -> taint.getKey().equals(UnreachableNodes.TAINT)));
    jobs.delete(POD, careful);
    jobs.delete(POD, safe);

    await("deletion by force")
        .atMost(LIMIT)
        .until(() -> jobs.get(POD, safe).at("/status/phase").asText().equals("Failed"));
    await("grace period")
        .atMost(LIMIT)
        .until(() -> jobs.get(POD, safe).at("/metadata/deletionGracePeriodSeconds").asInt(-1) == 0);
    JsonNode failed = jobs.get(POD, safe);
    assertThat(reason(failed)).isEqualTo("KueueForcefullyDeleted");
    await("event")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(events(safe))
                    .filteredOn(it -> "KueueForcefullyDeleted".equals(it.getReason()))
                    .extracting(Event::getType)
                    .containsExactly("Warning"));
    jobs.patch(POD, safe, "{'metadata': {'finalizers': null}}");
    jobs.awaitGone(POD, safe);
    assertThat(podOf("safe")).isNotEqualTo(safe);

    JsonNode other = jobs.get(POD, careful);
    assertThat(other.at("/metadata/deletionTimestamp").asText()).isNotEmpty();
    assertThat(other.at("/status/phase").asText()).isEqualTo("Pending");
    jobs.patch(POD, careful, "{'metadata': {'finalizers': null}}");
    own.client().pods().inNamespace(own.namespace()).withName(careful).withGracePeriod(0).delete();
  }

  private static String reason(JsonNode pod) {
    for (JsonNode condition : pod.at("/status/conditions")) {
      if (condition.path("type").asText().equals("KueueFailureRecovery")) {
        return condition.path("reason").asText();
      }
    }
    return "absent";
  }

  private List<Event> events(String pod) {
    return cluster.events().stream()
        .filter(event -> event.getRegarding().getName().equals(pod))
        .toList();
  }

  private Node givenNode(String name) {
    Map<String, Quantity> amounts =
        Map.of("cpu", new Quantity("8"), "memory", new Quantity("8Gi"), "pods", new Quantity("9"));
    Node node =
        cluster.create(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("pool", "spot")
                .addToLabels("silent", name)
                .endMetadata()
                .withNewStatus()
                .withCapacity(amounts)
                .withAllocatable(amounts)
                .endStatus()
                .build());
    ready(node, "True");
    return node;
  }

  private void ready(Node node, String status) {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    cluster
        .client()
        .resource(node)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.STRATEGIC_MERGE),
            """
            {"status": {"conditions": [{"type": "Ready", "status": "%s", "reason": "Test",
              "message": "", "lastHeartbeatTime": "%s", "lastTransitionTime": "%s"}]}}
            """
                .formatted(status, now, now));
  }

  private void job(String name, String safe) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
        spec:
          template:
            metadata:
              finalizers: [%s]
              annotations: {kueue.x-k8s.io/safe-to-forcefully-delete: "%s"}
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              nodeSelector: {silent: "silent-${suffix}"}
              containers:
              - {name: main, image: none, resources: {requests: {cpu: 1}}}
        """
            .formatted(name, HELD, safe));
  }

  /** The pod of a Job that is not deleted, once there is one. */
  private String podOf(String job) {
    return await("pod of " + job)
        .atMost(LIMIT)
        .until(
            () ->
                jobs.pods().stream()
                    .filter(
                        pod ->
                            pod.at("/metadata/labels/batch.kubernetes.io~1job-name")
                                .asText()
                                .equals(job))
                    .filter(pod -> pod.at("/metadata/deletionTimestamp").isMissingNode())
                    .map(pod -> pod.at("/metadata/name").asText())
                    .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }
}
