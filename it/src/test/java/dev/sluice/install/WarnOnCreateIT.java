package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever creates a job that will wait for long is warned, where the configuration says so. */
@ControlPlaneTest(exclusive = true, fresh = false, controllers = false)
@Tag(BuildBreadth.NIGHTLY)
class WarnOnCreateIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @Test
  void whoeverCreatesAJobThatWaitsForLongIsWarned(TestCluster cluster) throws Exception {
    KubectlPlugin plugin = new KubectlPlugin(cluster.kubeconfig());
    try (LocalOperator operator =
        LocalOperator.start(
            "operator-that-warns",
            cluster.kubeconfig(),
            OperatorSettings.onFreePorts(new Random()).with("forecast: {warnOnCreate: 1h}\n"))) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: "f-${suffix}"}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "cq-${suffix}"}
          spec:
            namespaceSelector: {}
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: "f-${suffix}", resources: [{name: cpu, nominalQuota: "4"}]}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: lq, namespace: "${namespace}"}
          spec: {clusterQueue: "cq-${suffix}"}
          """);
      assertThat(create(plugin, cluster, "runs", 3, "5h"))
          .as("it starts at once")
          .contains("job.batch/runs created")
          .doesNotContain("simulation: ");
      await("its quota")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                              .inNamespace(cluster.namespace())
                              .list()
                              .getItems())
                      .singleElement()
                      .asString()
                      .contains("type=Admitted"));
      // there is no warning where the answer doesn't come in time
      String[] told = {""};
      int[] number = {0};
      await("a warning of a long wait")
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                told[0] = create(plugin, cluster, "waits-" + number[0]++, 2, "1m");
                assertThat(told[0]).contains("Warning: simulation: starts in about ");
              });
      assertThat(told[0]).contains("by declared run times", " created").endsWith("exit 0");
      await("a warning of a job that never starts")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(create(plugin, cluster, "never-" + number[0]++, 5, "1m"))
                      .contains(
                          "Warning: simulation: Never: ",
                          "cpu: 5 requested, more than the maximum of 4",
                          " created")
                      .endsWith("exit 0"));
      assertThat(create(plugin, cluster, "small", 1, "1m"))
          .as("it starts at once")
          .contains("job.batch/small created")
          .doesNotContain("simulation: ");
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  private String create(
      KubectlPlugin plugin, TestCluster cluster, String name, int cpus, String runTime)
      throws Exception {
    Path file = manifest(cluster.namespace(), name, cpus, runTime);
    return plugin.kubectl("create", "-f", file.toString());
  }

  private Path manifest(String namespace, String name, int cpus, String runTime)
      throws IOException {
    return Files.writeString(
        directory.resolve(name + ".yaml"),
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          namespace: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {sluice.dev/expected-run-time: %s}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(name, namespace, runTime, cpus));
  }
}
