package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.MultiClusterFixture.apply;
import static dev.sluice.checks.multikueue.MultiClusterFixture.eventually;
import static dev.sluice.checks.multikueue.MultiClusterFixture.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.ResourceQuota;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;

/** The manager's quota follows that of its two workers. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("needs the processors for itself")
class QuotaAutomationIT {

  private static final String AUTOMATED =
      text("/scenarios/multi-cluster/manager/setup.yaml")
          .replace("  clusters:\n", "  quotaManagement: Automated\n  clusters:\n")
          .replace("nominalQuota: 68", "nominalQuota: 1");

  @SuppressWarnings("NullAway.Init") // made before all tests
  private MultiClusterFixture clusters;

  @BeforeAll
  void start(ControlPlane controlPlane, TestCluster cluster) {
    clusters = new MultiClusterFixture(cluster.client());
    clusters.operator(
        "manager",
        cluster.kubeconfig(),
        controlPlane.logs(),
        "featureGates: {MultiKueueManagerQuotaAutomation: true}\n");
    for (String name : List.of("onsite", "remote")) {
      apply(clusters.joinAndOperate(name).client(), setup(name));
    }
    apply(clusters.manager(), AUTOMATED);
    clusters.awaitConnected(2);
  }

  private static String setup(String worker) {
    return text("/scenarios/multi-cluster/" + worker + "/setup.yaml");
  }

  @AfterAll
  void stop() throws Exception {
    clusters.close();
  }

  private ClusterQueue queue() {
    return clusters.manager().resources(ClusterQueue.class).withName("everywhere").require();
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

    apply(
        clusters.worker("onsite"),
        setup("onsite").replace("nominalQuota: 4\n", "nominalQuota: 6500m\n"));
    eventually(() -> assertThat(quota()).containsEntry("cpu", "70500m"));

    clusters.control("remote").controlPlane().crash(Program.API_SERVER);
    eventually(
        () -> {
          assertThat(quota())
              .isEqualTo(Map.of("cpu", "6500m", "memory", "16Gi", "nvidia.com/gpu", "0"));
          assertThat(message()).contains("not connected, and not counted: [remote]");
        });
    clusters.control("remote").controlPlane().startAgain(Program.API_SERVER);
    eventually(() -> assertThat(quota()).containsEntry("cpu", "70500m"));

    apply(clusters.worker("onsite"), setup("onsite").replace("nvidia.com/gpu", "example.com/fpga"));
    eventually(
        () -> {
          assertThat(condition()).containsExactly("False UnsupportedConfiguration");
          assertThat(message()).contains("example.com/fpga");
        });

    clusters
        .manager()
        .resources(MultiKueueConfig.class)
        .withName("clusters")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"quotaManagement\":\"Manual\"}}");
    eventually(() -> assertThat(condition()).containsExactly("False NotRequested"));
    assertThat(queue().getStatus().conditions())
        .anyMatch(it -> it.getType().equals("Active") && it.getStatus().equals("True"));
  }
}
