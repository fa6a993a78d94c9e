package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.MultiClusterFixture.NAMESPACE;
import static dev.sluice.checks.multikueue.MultiClusterFixture.apply;
import static dev.sluice.checks.multikueue.MultiClusterFixture.eventually;
import static dev.sluice.checks.multikueue.MultiClusterFixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;

/** Jobs that say where they may go, and what they are told while they wait. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("needs the processors for itself")
class PlacementIT {

  @SuppressWarnings("NullAway.Init") // made before all tests
  private MultiClusterFixture clusters;

  @BeforeAll
  void start(ControlPlane controlPlane, TestCluster cluster) {
    clusters = new MultiClusterFixture(cluster.client());
    clusters.operator("manager", cluster.kubeconfig(), controlPlane.logs(), "");
    for (String name : List.of("onsite", "remote")) {
      apply(
          clusters.joinAndOperate(name).client(),
          text("/scenarios/multi-cluster/" + name + "/setup.yaml"));
    }
    apply(clusters.manager(), text("/scenarios/multi-cluster/manager/setup.yaml"));
    label("onsite", "topology.kubernetes.io/region", "eu");
    label("remote", "topology.kubernetes.io/region", "us");
    label("remote", "tier", "gpu");
    clusters.awaitConnected(2);
  }

  @AfterAll
  void stop() throws Exception {
    clusters.close();
  }

  private void label(String cluster, String key, String value) {
    clusters
        .manager()
        .resources(MultiKueueCluster.class)
        .withName(cluster)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(key, value));
  }

  /** Two pods of one CPU each. */
  private void submit(String name, String annotation, String value, String runFor) {
    apply(
        clusters.manager(),
        text("/scenarios/multi-cluster/jobs/01-small.yaml")
            .replace("name: small", "name: " + name)
            .replace(
                "  labels:\n", "  annotations: {" + annotation + ": '" + value + "'}\n  labels:\n")
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: "
                    + runFor
                    + "}}\n"));
  }

  private void limit(String job, String annotation, String value) {
    clusters
        .manager()
        .batch()
        .v1()
        .jobs()
        .inNamespace(NAMESPACE)
        .withName(job)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}}}".formatted(annotation, value));
  }

  private void runsIn(String job, String cluster) {
    eventually(() -> assertThat(clusters.cluster(job)).isEqualTo(cluster));
  }

  @Test
  void aJobGoesWhereItsLimitsAllow() {
    submit("gpu-tier", "sluice.dev/placement-cluster-selector", "tier in (gpu, tpu)", "1s");
    runsIn("gpu-tier", "remote");
    assertThat(clusters.workload("gpu-tier").getMetadata().getAnnotations())
        .containsEntry("sluice.dev/placement-cluster-selector", "tier in (gpu, tpu)");

    submit("not-gpu", "sluice.dev/placement-cluster-selector", "tier!=gpu", "1s");
    runsIn("not-gpu", "onsite");
  }

  @Test
  void aLimitThatCannotBeReadIsRefused() {
    assertThatThrownBy(
            () -> submit("odd", "sluice.dev/placement-cluster-selector", "tier in gpu", "1s"))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(
            "metadata.annotations[sluice.dev/placement-cluster-selector]: Invalid value: \"tier in"
                + " gpu\": must be requirements separated by commas");
  }

  @Test
  void aJobThatMayGoNowhereWaitsSaysWhyAndGoesWhenItMay() {
    submit("stuck", "sluice.dev/placement-region", "mars", "1s");

    eventually(
        () ->
            assertThat(clusters.checkMessage("stuck"))
                .isEqualTo(
                    "No worker cluster is allowed; onsite: not allowed by"
                        + " sluice.dev/placement-region \"mars\", its region is \"eu\"; remote: not"
                        + " allowed by sluice.dev/placement-region \"mars\", its region is"
                        + " \"us\""));

    limit("stuck", "sluice.dev/placement-region", "mars, us");
    runsIn("stuck", "remote");
  }

  @Test
  void aJobThatWaitsInAWorkerTellsWhatItWaitsFor() {
    submit("first", "sluice.dev/placement-region", "eu", "40s");
    submit("second", "sluice.dev/placement-region", "eu", "40s");
    runsIn("first", "onsite");
    runsIn("second", "onsite");

    submit("third", "sluice.dev/placement-region", "eu", "1s");

    eventually(
        () ->
            assertThat(clusters.checkMessage("third"))
                .startsWith("onsite: waits for quota: ")
                .contains("cpu: 2 requested, 0 available of 4, 2 missing")
                .contains("; remote: not allowed by sluice.dev/placement-region \"eu\""));
    String version = clusters.workload("third").getMetadata().getResourceVersion();
    await()
        .during(Duration.ofSeconds(5))
        .atMost(Duration.ofSeconds(20))
        .until(() -> clusters.workload("third").getMetadata().getResourceVersion().equals(version));
    runsIn("third", "onsite");
  }
}
