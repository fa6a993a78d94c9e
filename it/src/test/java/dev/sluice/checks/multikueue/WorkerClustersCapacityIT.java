package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueStatus;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The manager's quotas follow a provider that adds up its two workers. */
@ResourceLock(AdditionalControlPlane.PLACE_A)
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class WorkerClustersCapacityIT {

  private static final String PROVIDER = "kueue.x-k8s.io/v1alpha1";

  @SuppressWarnings("NullAway.Init") // made before each test
  private ManagerAndWorkers running;

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void start() {
    running =
        ManagerAndWorkers.start(
            new ManagerAndWorkers.Options(
                "featureGates: {DynamicQuotaOrchestration: true}\n", "", false));
    clusters = running.share();
    ManagerAndWorkers.WORKERS.forEach(clusters::setUpWorker);
    clusters.setUpManager(clusters.scenario("manager/setup.yaml"));
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: CapacityProvider
        metadata: {name: "%1$s"}
        spec:
          controllerName: sluice.dev/worker-clusters
          orchestratedFlavors: [{name: "%2$s"}]
          parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: "%3$s"}
        ---
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: DynamicQuotaOrchestrator
        metadata: {name: "%1$s"}
        spec:
          capacityDiscovery: {providers: [{name: "%1$s"}]}
          capacityDistribution:
            subtreeRootQuotaRef: {kind: ClusterQueue, name: "%4$s"}
        """
            .formatted(
                clusters.name("workers"),
                clusters.name("default-flavor"),
                clusters.name("clusters"),
                clusters.name("everywhere")));
  }

  @AfterEach
  void stop() {
    running.close();
  }

  /** The quotas that count in the manager, by resource. */
  private Map<String, String> effective() {
    ClusterQueue queue =
        clusters
            .manager()
            .resources(ClusterQueue.class)
            .withName(clusters.name("everywhere"))
            .require();
    Map<String, String> amounts = new TreeMap<>();
    Optional.ofNullable(queue.getStatus())
        .map(ClusterQueueStatus::effectiveQuotas)
        .ifPresent(
            quotas ->
                quotas
                    .resourceGroups()
                    .getFirst()
                    .flavors()
                    .getFirst()
                    .resources()
                    .forEach(each -> amounts.put(each.name(), each.nominalQuota().toString())));
    return amounts;
  }

  private GenericKubernetesResource provider() {
    return clusters
        .manager()
        .genericKubernetesResources(PROVIDER, "CapacityProvider")
        .withName(clusters.name("workers"))
        .require();
  }

  private void annotate(String value) {
    clusters
        .manager()
        .genericKubernetesResources(PROVIDER, "CapacityProvider")
        .withName(clusters.name("workers"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"sluice.dev/capacity-of-workers\":\"%s\"}}}"
                .formatted(value));
  }

  @Test
  void workersAreAddedUpOrTheLargestOneCounts() {
    eventually(
        () ->
            assertThat(effective())
                .isEqualTo(Map.of("cpu", "68", "memory", "272Gi", "nvidia.com/gpu", "8")));

    clusters.apply(
        clusters.worker("onsite"),
        clusters
            .scenario("onsite/setup.yaml")
            .replace("nominalQuota: 4\n", "nominalQuota: 6500m\n"));
    eventually(() -> assertThat(effective()).containsEntry("cpu", "70500m"));

    annotate("Largest");
    eventually(() -> assertThat(effective()).containsEntry("cpu", "64"));
    annotate("Some");
    eventually(
        () ->
            assertThat(provider().toString())
                .contains("Misconfigured", "\"Some\": must be Sum or Largest"));
    assertThat(effective()).as("stays as it was").containsEntry("cpu", "64");
    annotate("Sum");
    eventually(() -> assertThat(effective()).containsEntry("cpu", "70500m"));

    running.cutOff("remote");
    eventually(
        () ->
            assertThat(provider().toString())
                .contains("SourceUnavailable", "worker cluster \"remote\": it is not connected"));
    assertThat(effective()).as("stays as it was").containsEntry("cpu", "70500m");
    running.reconnect("remote");
    eventually(() -> assertThat(provider().toString()).contains("Synchronized, status=True"));
  }
}
