package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Job that would have to preempt in each of two workers preempts in one of them only. */
@MultiClusterTest
@Tag("scenario")
class OrchestratedPreemptionIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String API = "kueue.x-k8s.io/v1beta2";
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Map<String, Integer> ROOM =
      Map.of(ManagerAndWorkers.ONSITE, 4, ManagerAndWorkers.REMOTE, 64);

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
  }

  @Test
  void onlyOneWorkerPreempts() {
    ROOM.forEach(this::fill);

    submitUrgent();

    for (String worker : ManagerAndWorkers.WORKERS) {
      await("both workers to say that they would have to preempt")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(condition(copy(worker), "BlockedOnPreemptionGates"))
                      .isEqualTo("True PreemptionGated"));
    }
    String chosen =
        await("one of them to be told that it may")
            .atMost(LIMIT)
            .until(
                () ->
                    ManagerAndWorkers.WORKERS.stream()
                        .filter(worker -> gate(worker).equals("Open"))
                        .findFirst()
                        .orElse(""),
                worker -> !worker.isEmpty());
    String other = MultiCluster.other(chosen);
    await("the chosen one to preempt")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(condition(resident(chosen), "Preempted"))
                    .isEqualTo("True InClusterQueue"));
    assertThat(gate(other)).isEqualTo("Closed");
    stopResident(chosen);

    await("the Job to run where it preempted, and to end")
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(clusters.job("urgent").getStatus().getSucceeded()).isEqualTo(1));
    assertThat(condition(resident(other), "Evicted")).isEqualTo("absent");
    assertThat(condition(resident(other), "Admitted")).isEqualTo("True Admitted");
  }

  /** Makes the queue preempt, and a Workload that uses all of it. */
  private void fill(String worker, int cpus) {
    KubernetesClient client = clusters.worker(worker);
    client
        .genericKubernetesResources(API, "ClusterQueue")
        .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"preemption\": {\"withinClusterQueue\": \"LowerPriority\"}}}");
    clusters.apply(
        client,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: resident, namespace: ${namespace}}
        spec:
          queueName: analysis
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(cpus));
    await("a full worker")
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(condition(resident(worker), "Admitted")).isEqualTo("True Admitted"));
  }

  private void submitUrgent() {
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        ---
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          namespace: ${namespace}
          labels:
            kueue.x-k8s.io/queue-name: analysis
            kueue.x-k8s.io/priority-class: urgent-${suffix}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "1s"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "4"}}}]
        """);
  }

  private Resource<GenericKubernetesResource> workloadOf(String worker) {
    return clusters
        .worker(worker)
        .genericKubernetesResources(API, "Workload")
        .inNamespace(clusters.namespace())
        .withName("resident");
  }

  private JsonNode resident(String worker) {
    return JSON.valueToTree(workloadOf(worker).get());
  }

  /** Nobody runs the resident: it stops at once. */
  private void stopResident(String worker) {
    workloadOf(worker)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"admission": null, "conditions": [{"type": "QuotaReserved",
             "status": "False", "reason": "PendingEvaluation", "message": "it has stopped",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
            """);
  }

  /** The copy of the manager's Workload in a worker; null node without one. */
  private JsonNode copy(String worker) {
    return clusters
        .worker(worker)
        .genericKubernetesResources(API, "Workload")
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> it.getMetadata().getName().startsWith("job-urgent"))
        .map(it -> JSON.<JsonNode>valueToTree(it))
        .findFirst()
        .orElseGet(JSON::nullNode);
  }

  private String gate(String worker) {
    JsonNode gate = copy(worker).at("/status/preemptionGates/0");
    assertThat(gate.path("name").asText()).isIn("kueue.x-k8s.io/multikueue", "");
    return gate.path("position").asText();
  }

  private static String condition(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }
}
