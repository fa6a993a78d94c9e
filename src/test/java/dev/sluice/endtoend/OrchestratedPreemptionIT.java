package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A Job that would have to preempt in each of two workers preempts in one of them only. */
@ControlPlaneTest(exclusive = true)
@Isolated("needs the processors for itself")
class OrchestratedPreemptionIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String GATE =
      """
      featureGates:
        MultiKueueOrchestratedPreemption: true
      """;

  @Test
  void onlyOneWorkerPreempts(ControlPlane controlPlane, TestCluster cluster) {
    try (OperatorProcess manager =
            OperatorProcess.start(
                    "operator",
                    cluster.kubeconfig(),
                    OperatorSettings.onFreePorts(new SecureRandom()).with(GATE),
                    controlPlane.logs(),
                    List.of())
                .awaitReady();
        MultiClusterLoad multiClusterLoad =
            new MultiClusterLoad(cluster.client(), 2, GATE).setUp()) {
      multiClusterLoad.workers().forEach(OrchestratedPreemptionIT::fill);

      submitUrgent(cluster.client());

      for (MultiClusterLoad.Worker worker : multiClusterLoad.workers()) {
        await("both workers to say that they would have to preempt")
            .atMost(LIMIT)
            .untilAsserted(
                () ->
                    assertThat(condition(copy(worker), "BlockedOnPreemptionGates"))
                        .isEqualTo("True PreemptionGated"));
      }
      MultiClusterLoad.Worker chosen =
          await("one of them to be told that it may")
              .atMost(LIMIT)
              .until(
                  () ->
                      multiClusterLoad.workers().stream()
                          .filter(worker -> gate(worker).equals("Open"))
                          .findFirst()
                          .orElse(multiClusterLoad.worker(0)),
                  worker -> gate(worker).equals("Open"));
      MultiClusterLoad.Worker other =
          multiClusterLoad.workers().stream().filter(it -> it != chosen).findFirst().orElseThrow();
      await("the chosen one to preempt")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(condition(get(chosen.client(), "resident"), "Preempted"))
                      .isEqualTo("True InClusterQueue"));
      assertThat(gate(other)).isEqualTo("Closed");
      stopResident(chosen.client());

      await("the Job to run where it preempted, and to end")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .batch()
                              .v1()
                              .jobs()
                              .inNamespace(MultiClusterLoad.NAMESPACE)
                              .withName("urgent")
                              .get()
                              .getStatus()
                              .getSucceeded())
                      .isEqualTo(1));
      assertThat(condition(get(other.client(), "resident"), "Evicted")).isEqualTo("absent");
      assertThat(condition(get(other.client(), "resident"), "Admitted")).isEqualTo("True Admitted");
      assertThat(manager.isAlive()).isTrue();
    }
  }

  /** A queue that preempts, and one who uses all of it. */
  private static void fill(MultiClusterLoad.Worker worker) {
    resource(worker.client(), "ClusterQueue", "", "fleet")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"preemption\": {\"withinClusterQueue\": \"LowerPriority\"}}}");
    apply(
        worker.client(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: resident, namespace: %s}
        spec:
          queueName: main
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(MultiClusterLoad.NAMESPACE, MultiClusterLoad.ROOM));
    await("a full worker")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(condition(get(worker.client(), "resident"), "Admitted"))
                    .isEqualTo("True Admitted"));
  }

  private static void submitUrgent(KubernetesClient manager) {
    apply(
        manager,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: urgent}
        value: 100
        ---
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          namespace: %s
          labels: {kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/priority-class: urgent}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "1s"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "4"}}}]
        """
            .formatted(MultiClusterLoad.NAMESPACE));
  }

  /** Nobody runs the resident: it stops at once. */
  private static void stopResident(KubernetesClient worker) {
    resource(worker, "Workload", MultiClusterLoad.NAMESPACE, "resident")
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"admission": null, "conditions": [{"type": "QuotaReserved",
             "status": "False", "reason": "PendingEvaluation", "message": "it has stopped",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
            """);
  }

  private static void apply(KubernetesClient client, String yaml) {
    client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .items()
        .forEach(object -> client.resource(object).create());
  }

  private static Resource<GenericKubernetesResource> resource(
      KubernetesClient client, String kind, String namespace, String name) {
    var objects = client.genericKubernetesResources("kueue.x-k8s.io/v1beta2", kind);
    return namespace.isEmpty()
        ? objects.withName(name)
        : objects.inNamespace(namespace).withName(name);
  }

  private static JsonNode get(KubernetesClient client, String workload) {
    return JSON.valueToTree(
        resource(client, "Workload", MultiClusterLoad.NAMESPACE, workload).get());
  }

  /** The copy of the manager's Workload in a worker; null node without one. */
  private static JsonNode copy(MultiClusterLoad.Worker worker) {
    return worker
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(MultiClusterLoad.NAMESPACE)
        .list()
        .getItems()
        .stream()
        .filter(it -> it.getMetadata().getName().startsWith("job-urgent"))
        .map(it -> JSON.<JsonNode>valueToTree(it))
        .findFirst()
        .orElseGet(JSON::nullNode);
  }

  private static String gate(MultiClusterLoad.Worker worker) {
    JsonNode gate = copy(worker).at("/status/preemptionGates/0");
    assertThat(gate.path("name").asText()).isIn("multikueue", "");
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
