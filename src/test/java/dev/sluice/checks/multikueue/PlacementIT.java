package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs that say where they may go, and what they are told while they wait. */
@MultiClusterTest
class PlacementIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
  }

  /** Two pods of one CPU each. */
  private void submit(String name, String annotation, String value, String runFor) {
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
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
        .inNamespace(clusters.namespace())
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
    submit("first", "sluice.dev/placement-region", "eu", "10m");
    submit("second", "sluice.dev/placement-region", "eu", "10m");
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
        .atMost(Duration.ofMinutes(2))
        .until(() -> clusters.workload("third").getMetadata().getResourceVersion().equals(version));
    clusters.endPods(clusters.worker("onsite"), "job-name", "first");
    runsIn("third", "onsite");
  }
}
