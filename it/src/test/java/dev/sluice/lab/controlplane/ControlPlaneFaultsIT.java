package dev.sluice.lab.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The programs of a control plane can be disturbed one by one, and the rest copes. */
@Tag(BuildBreadth.NIGHTLY)
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
class ControlPlaneFaultsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @Test
  void theApiServerComesBackAtItsAddressAndRunningJobsEnd(
      ControlPlane controlPlane, TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: patient}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 3s}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: "registry.example/test/image:1"}]
        """);
    await().atMost(LIMIT).until(() -> Objects.equals(job(cluster).getStatus().getReady(), 1));
    long before = controlPlane.process(Program.API_SERVER).pid();

    controlPlane.restart(Program.API_SERVER);

    assertThat(controlPlane.process(Program.API_SERVER).pid()).isNotEqualTo(before);
    await().atMost(LIMIT).until(() -> Objects.equals(job(cluster).getStatus().getSucceeded(), 1));
  }

  @Test
  void aPausedStoreTakesNoWritesUntilItIsResumed(ControlPlane controlPlane, TestCluster cluster) {
    ManagedProcess store = controlPlane.process(Program.ETCD);
    ConfigMap object =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withName("written")
            .withNamespace(cluster.namespace())
            .endMetadata()
            .build();

    store.pause();
    try (KubernetesClient impatient = impatient(cluster)) {
      assertThatThrownBy(() -> impatient.resource(object).create())
          .isInstanceOf(KubernetesClientException.class);
    } finally {
      store.resume();
    }

    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> cluster.client().resource(object).serverSideApply() != null);
  }

  @Test
  void cpuTimeAndMemoryOfAProgramCanBeRead(ControlPlane controlPlane, TestCluster cluster) {
    ManagedProcess apiServer = controlPlane.process(Program.API_SERVER);
    Duration before = apiServer.cpuTime();

    await()
        .atMost(LIMIT)
        .until(
            () -> {
              cluster.client().raw("/openapi/v2");
              return apiServer.cpuTime().compareTo(before) > 0;
            });

    assertThat(before).isPositive();
    assertThat(apiServer.peakResidentBytes()).isGreaterThan(50L << 20);
  }

  private static Job job(TestCluster cluster) {
    return Objects.requireNonNull(
        cluster
            .client()
            .batch()
            .v1()
            .jobs()
            .inNamespace(cluster.namespace())
            .withName("patient")
            .get());
  }

  private static KubernetesClient impatient(TestCluster cluster) {
    Config config =
        new ConfigBuilder(cluster.client().getConfiguration())
            .withRequestTimeout(2_000)
            .withRequestRetryBackoffLimit(0)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
