package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.checks.multikueue.fencing.FencingController.FenceAnnotations;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.TestCluster;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.awaitility.core.ThrowingRunnable;

/**
 * One Job runs in a worker from which the manager is cut off. The worker stops it in time, whatever
 * becomes of its operator meanwhile; then, and not before, it runs in the other one.
 */
final class Partitions {

  /** Longer than an operator needs to be killed, started and elected. */
  private static final Duration LOST_TIMEOUT = Duration.ofSeconds(90);

  /** Until a connection counts as lost on which nothing is heard, and the Job has moved. */
  private static final Duration NOTICED = Duration.ofMinutes(5);

  private Partitions() {}

  /** What cuts a worker off. */
  interface Partition {
    void of(MultiClusterLoad.Worker worker);
  }

  /** Has it all happen in a control plane that nothing else happens in. */
  static void endure(ControlPlane controlPlane, TestCluster cluster, Partition partition)
      throws Exception {
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .with(
                "multiKueue: {workerLostTimeout: %ds, gcInterval: 5s}\n"
                    .formatted(LOST_TIMEOUT.toSeconds()));
    KubernetesClient manager = cluster.client();
    try (OperatorProcess operator =
            OperatorProcess.start(
                    "manager", cluster.kubeconfig(), settings, controlPlane.logs(), List.of())
                .awaitReady();
        MultiClusterLoad multiClusterLoad = new MultiClusterLoad(manager, 2).setUp();
        MultiClusterAudit audit = new MultiClusterAudit(manager, multiClusterLoad)) {
      assertThat(operator.isAlive()).isTrue();
      submit(manager);
      eventually(() -> assertThat(active(manager)).isEqualTo(2), Duration.ofMinutes(1));
      MultiClusterLoad.Worker first = runsIn(manager, multiClusterLoad).orElseThrow();

      partition.of(first);

      eventually(() -> assertThat(isSuspended(first.client())).isTrue(), Duration.ofMinutes(2));
      assertThat(runsIn(manager, multiClusterLoad)).contains(first);
      eventually(
          () ->
              assertThat(runsIn(manager, multiClusterLoad))
                  .hasValueSatisfying(other -> assertThat(other).isNotSameAs(first)),
          NOTICED);
      first.mend();
      eventually(() -> assertThat(audit.complete()).isEqualTo(1), Duration.ofMinutes(5));
      eventually(
          () -> assertThat(MultiClusterAudit.leftovers(multiClusterLoad)).isEmpty(),
          Duration.ofMinutes(3));
      assertThat(audit.faults(1)).isEmpty();
    }
  }

  /** Waits until the last renewal that the worker knows of is so long ago. */
  static void lastRenewalIs(Duration ago, MultiClusterLoad.Worker worker) {
    eventually(
        () ->
            assertThat(
                    worker
                        .client()
                        .leases()
                        .inNamespace("kueue-system")
                        .withLabel(FenceAnnotations.ORIGIN)
                        .list()
                        .getItems())
                .singleElement()
                .satisfies(
                    lease ->
                        assertThat(lease.getSpec().getRenewTime().toInstant())
                            .isBefore(Instant.now().minus(ago))),
        ago.plus(ago));
  }

  private static void submit(KubernetesClient manager) {
    String job =
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: long, namespace: %s, labels: {kueue.x-k8s.io/queue-name: main}}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {sluice.dev/run-for: 150s}}
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
              - name: main
                image: registry.example/test/image:1
                resources: {requests: {cpu: 1}}
        """
            .formatted(MultiClusterLoad.NAMESPACE);
    manager.load(new ByteArrayInputStream(job.getBytes(StandardCharsets.UTF_8))).create();
  }

  private static int active(KubernetesClient cluster) {
    return Optional.ofNullable(
            cluster
                .batch()
                .v1()
                .jobs()
                .inNamespace(MultiClusterLoad.NAMESPACE)
                .withName("long")
                .require()
                .getStatus()
                .getActive())
        .orElse(0);
  }

  private static boolean isSuspended(KubernetesClient cluster) {
    return cluster
            .batch()
            .v1()
            .jobs()
            .inNamespace(MultiClusterLoad.NAMESPACE)
            .withName("long")
            .require()
            .getSpec()
            .getSuspend()
        && active(cluster) == 0;
  }

  /** The worker that the Job runs in, as the manager's Workload says. */
  private static Optional<MultiClusterLoad.Worker> runsIn(
      KubernetesClient manager, MultiClusterLoad multiClusterLoad) {
    return manager
        .resources(Workload.class)
        .inNamespace(MultiClusterLoad.NAMESPACE)
        .list()
        .getItems()
        .stream()
        .flatMap(it -> Optional.ofNullable(it.getStatus()).stream())
        .flatMap(it -> Optional.ofNullable(it.clusterName()).stream())
        .flatMap(
            name ->
                multiClusterLoad.workers().stream().filter(worker -> worker.name().equals(name)))
        .findFirst();
  }

  private static void eventually(ThrowingRunnable assertion, Duration limit) {
    await().atMost(limit).pollInterval(Duration.ofMillis(500)).untilAsserted(assertion);
  }
}
