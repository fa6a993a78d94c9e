package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Somebody deletes the ClusterRole of a running operator, or its binding. */
@ControlPlaneTest(
    exclusive = true,
    controllers = false,
    apiServerArguments = "--enable-aggregator-routing=true")
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class DeletedRolesIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String FAULT = "sluice_installation_fault{object=\"roles\"} ";

  private static List<Resource<? extends HasMetadata>> roles(KubernetesClient client) {
    return List.of(
        client.rbac().clusterRoles().withName("kueue-manager-role"),
        client.rbac().clusterRoleBindings().withName("kueue-manager-rolebinding"));
  }

  private static void awaitFault(MetricsEndpoint metrics, String value) {
    String scraper = metrics.token();
    await("fault " + value)
        .atMost(LIMIT)
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(metrics.get(scraper).body()).contains(FAULT + value));
  }

  @Test
  void whoInstallsPutsThemBack(TestCluster cluster) {
    try (LocalOperator operator = LocalOperator.start("deleted", cluster.kubeconfig(), "")) {
      for (Resource<? extends HasMetadata> role : roles(cluster.client())) {
        String uid = role.require().getMetadata().getUid();

        role.delete();

        await("another " + uid)
            .atMost(LIMIT)
            .until(role::get, found -> found != null && !found.getMetadata().getUid().equals(uid));
      }
      awaitFault(new MetricsEndpoint(cluster.client(), operator.settings().metricsPort()), "0.0");
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  /** The alert SluiceInstallationDamaged looks at this metric (AlertRulesIT). */
  @Test
  void whoMayNotPutThemBackTellsUntilSomebodyDoes(TestCluster cluster, @TempDir Path directory)
      throws IOException {
    try (ShippedOperator operator = new ShippedOperator(cluster, directory)) {
      operator.start();
      MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), operator.metricsPort());
      awaitFault(metrics, "0.0");
      for (Resource<? extends HasMetadata> role : roles(cluster.client())) {
        HasMetadata whole = role.require();

        role.delete();

        awaitFault(metrics, "1.0");
        assertThat(Files.readString(operator.log()))
            .contains(
                "installation object=roles fault=\"%s %s does not exist\""
                    .formatted(whole.getKind(), whole.getMetadata().getName()));
        whole.getMetadata().setResourceVersion(null);
        cluster.client().resource(whole).create();
        awaitFault(metrics, "0.0");
      }
      assertThat(operator.isAlive()).isTrue();
    }
  }
}
