package dev.sluice.webhooks.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the webhooks do to pods, as a real API server asks them, and what holds without them. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class PodWebhooksIT {

  private static final String SYSTEM = "kube-system";
  private static final Map<String, String> QUEUED = Map.of("kueue.x-k8s.io/queue-name", "lq");

  private static Pod pod(String namespace, String name, Map<String, String> labels) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .withAutomountServiceAccountToken(false)
        .addNewContainer()
        .withName("main")
        .withImage("none:1")
        .endContainer()
        .endSpec()
        .build();
  }

  private static List<String> gates(Pod pod) {
    return pod.getSpec().getSchedulingGates().stream().map(PodSchedulingGate::getName).toList();
  }

  @Test
  void podsInAQueueWaitAndNobodyElseIsHeldUp(TestCluster cluster) {
    String own = cluster.namespace();
    String other = cluster.createNamespace("other");
    try (LocalOperator _ =
        LocalOperator.start(
            "operator-of-pod-webhooks",
            cluster.kubeconfig(),
            "integrations: {frameworks: [pod]}")) {
      Pod waiting = cluster.create(pod(own, "waiting", QUEUED));
      assertThat(gates(waiting))
          .containsExactly("kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology");
      assertThat(waiting.getMetadata().getLabels()).containsEntry("kueue.x-k8s.io/managed", "true");
      assertThat(waiting.getMetadata().getFinalizers()).containsExactly("kueue.x-k8s.io/managed");
      assertThat(waiting.getMetadata().getAnnotations().get("kueue.x-k8s.io/role-hash"))
          .matches("[0-9a-f]{8}");
      assertThat(gates(cluster.create(pod(own, "free", Map.of())))).isEmpty();
      assertThat(gates(cluster.create(pod(SYSTEM, "dns", QUEUED)))).isEmpty();
      assertThatThrownBy(
              () ->
                  cluster.create(
                      pod(own, "alone", Map.of("kueue.x-k8s.io/pod-group-name", "team"))))
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("metadata.annotations[kueue.x-k8s.io/pod-group-total-count]")
          .hasMessageContaining("must be set for a pod of group");

      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: default, namespace: "%s"}
          spec: {clusterQueue: none}
          """
              .formatted(other));
      await("the default queue")
          .atMost(2, TimeUnit.MINUTES)
          .untilAsserted(
              () -> {
                Pod taken =
                    cluster.client().resource(pod(other, "taken", Map.of())).dryRun().create();
                assertThat(taken.getMetadata().getLabels())
                    .containsEntry("kueue.x-k8s.io/queue-name", "default");
              });
    }

    assertThatThrownBy(() -> cluster.create(pod(own, "later", QUEUED)))
        .as("what asks for a queue waits for the operator")
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("mpod.kb.io");
    assertThat(gates(cluster.create(pod(own, "meanwhile", Map.of())))).isEmpty();
    assertThat(gates(cluster.create(pod(SYSTEM, "proxy", QUEUED)))).isEmpty();
  }
}
