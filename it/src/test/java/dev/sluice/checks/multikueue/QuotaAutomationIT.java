package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The manager's quota follows that of its two workers. */
@ResourceLock(AdditionalControlPlane.PLACE_A)
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class QuotaAutomationIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private ManagerAndWorkers running;

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void start() {
    running =
        ManagerAndWorkers.start(
            new ManagerAndWorkers.Options(
                "featureGates: {MultiKueueManagerQuotaAutomation: true}\n", "", false));
    clusters = running.share();
    ManagerAndWorkers.WORKERS.forEach(clusters::setUpWorker);
    clusters.setUpManager(
        clusters
            .scenario("manager/setup.yaml")
            .replace("  clusters:\n", "  quotaManagement: Automated\n  clusters:\n")
            .replace("nominalQuota: 68", "nominalQuota: 1"));
  }

  @AfterEach
  void stop() {
    running.close();
  }

  private void applyInOnsite(String text, String replacement) {
    clusters.apply(
        clusters.worker("onsite"),
        clusters.scenario("onsite/setup.yaml").replace(text, replacement));
  }

  private ClusterQueue queue() {
    return clusters
        .manager()
        .resources(ClusterQueue.class)
        .withName(clusters.name("everywhere"))
        .require();
  }

  private Map<String, String> quota() {
    return queue().getSpec().resourceGroups().getFirst().flavors().getFirst().resources().stream()
        .collect(Collectors.toMap(ResourceQuota::name, it -> it.nominalQuota().toString()));
  }

  private List<String> condition() {
    return queue().getStatus().conditions().stream()
        .filter(it -> it.getType().equals("MultiKueueManagerQuotaAutomation"))
        .map(it -> it.getStatus() + " " + it.getReason())
        .toList();
  }

  private String message() {
    return queue().getStatus().conditions().stream()
        .filter(it -> it.getType().equals("MultiKueueManagerQuotaAutomation"))
        .map(Condition::getMessage)
        .collect(Collectors.joining());
  }

  @Test
  void theQuotaIsTheSumOverTheWorkersThatAreConnectedAndFollowsThem() {
    eventually(
        () -> {
          assertThat(quota())
              .isEqualTo(Map.of("cpu", "68", "memory", "272Gi", "nvidia.com/gpu", "8"));
          assertThat(condition()).containsExactly("True QuotaAutomated");
        });

    applyInOnsite("nominalQuota: 4\n", "nominalQuota: 6500m\n");
    eventually(() -> assertThat(quota()).containsEntry("cpu", "70500m"));

    running.cutOff("remote");
    eventually(
        () -> {
          assertThat(quota())
              .isEqualTo(Map.of("cpu", "6500m", "memory", "16Gi", "nvidia.com/gpu", "0"));
          assertThat(message()).contains("not connected, and not counted: [remote]");
        });
    running.reconnect("remote");
    eventually(() -> assertThat(quota()).containsEntry("cpu", "70500m"));

    applyInOnsite("nvidia.com/gpu", "example.com/fpga");
    eventually(
        () -> {
          assertThat(condition()).containsExactly("False UnsupportedConfiguration");
          assertThat(message()).contains("example.com/fpga");
        });

    clusters
        .manager()
        .resources(MultiKueueConfig.class)
        .withName(clusters.name("clusters"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"quotaManagement\":\"Manual\"}}");
    eventually(() -> assertThat(condition()).containsExactly("False NotRequested"));
    assertThat(queue().getStatus().conditions())
        .anyMatch(it -> it.getType().equals("Active") && it.getStatus().equals("True"));
  }
}
