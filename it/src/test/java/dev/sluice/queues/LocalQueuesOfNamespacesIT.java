package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A namespace gets its LocalQueue from the ClusterQueue that selects it, and jobs go there. */
@ControlPlaneTest(exclusive = true, fresh = false, controllers = false)
class LocalQueuesOfNamespacesIT {

  private static final Duration LIMIT = Duration.ofMinutes(1);

  private static Optional<LocalQueue> queue(TestCluster cluster, String namespace) {
    return Optional.ofNullable(
        cluster
            .client()
            .resources(LocalQueue.class)
            .inNamespace(namespace)
            .withName("default")
            .get());
  }

  private static void awaitQueue(TestCluster cluster, String namespace, String clusterQueue) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(queue(cluster, namespace))
                    .hasValueSatisfying(
                        found -> {
                          assertThat(found.getSpec().clusterQueue()).isEqualTo(clusterQueue);
                          assertThat(found.getMetadata().getAnnotations())
                              .containsEntry("sluice.dev/made-for", clusterQueue);
                        }));
  }

  private static void label(TestCluster cluster, String namespace, String value) {
    cluster
        .client()
        .namespaces()
        .withName(namespace)
        .edit(
            object -> {
              object.getMetadata().getLabels().put("team", value);
              return object;
            });
  }

  @Test
  void namespacesGetTheirQueueAndJobsAreAdmittedThere(TestCluster cluster) {
    String name = cluster.name("everybody");
    String first = cluster.createNamespace("first");
    String other = cluster.createNamespace("other");
    String own = cluster.createNamespace("own");
    label(cluster, first, name);
    label(cluster, own, name);
    try (LocalOperator _ =
        LocalOperator.start("operator-of-local-queues", cluster.kubeconfig(), "")) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: default, namespace: "%3$s"}
          spec: {clusterQueue: another}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: %1$s}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: %1$s, annotations: {sluice.dev/local-queue: default}}
          spec:
            namespaceSelector: {matchLabels: {team: %1$s}}
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: %1$s, resources: [{name: cpu, nominalQuota: 10}]}]
          """
              .formatted(name, first, own));
      awaitQueue(cluster, first, name);

      // a job that names no queue is admitted there
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                Job job =
                    cluster
                        .client()
                        .resource(
                            Serialization.unmarshal(
                                """
                                apiVersion: batch/v1
                                kind: Job
                                metadata: {generateName: plain-}
                                spec:
                                  template:
                                    spec:
                                      restartPolicy: Never
                                      containers:
                                      - {name: main, image: none, resources: {requests: {cpu: 1}}}
                                """,
                                Job.class))
                        .inNamespace(first)
                        .create();
                assertThat(job.getMetadata().getLabels())
                    .containsEntry("kueue.x-k8s.io/queue-name", "default");
              });
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(queue(cluster, first).orElseThrow().getStatus().admittedWorkloads())
                      .isPositive());

      // deleted, it comes again; labelled, another namespace gets one
      cluster.client().resources(LocalQueue.class).inNamespace(first).withName("default").delete();
      awaitQueue(cluster, first, name);
      assertThat(queue(cluster, other)).isEmpty();
      label(cluster, other, name);
      awaitQueue(cluster, other, name);

      assertThat(queue(cluster, own).orElseThrow().getSpec().clusterQueue())
          .as("one that was there stays")
          .isEqualTo("another");
    }
  }
}
