package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** When the operator that leads dies, the other one goes on. */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@Isolated("needs the processors for itself")
class TwoOperatorsIT {

  private static final Duration TAKEOVER = Duration.ofSeconds(20);

  @Test
  void whenTheLeaderIsKilledTheOtherAdmitsWithinTwentySeconds(
      ControlPlane controlPlane, TestCluster cluster) {
    try (OperatorProcess leader = start("leader", controlPlane, cluster)) {
      await().atMost(Duration.ofMinutes(1)).until(() -> leads(leader));
      try (OperatorProcess standby = start("standby", controlPlane, cluster);
          JobLoad load = new JobLoad(cluster, Duration.ofSeconds(1)).withRoomFor(1)) {
        standby.awaitReady();
        load.submit(1);
        await().atMost(Duration.ofSeconds(30)).until(() -> load.isComplete(1));
        assertThat(leads(standby)).isFalse();

        leader.kill();
        cluster.client().resource(load.job("after")).create();

        await().atMost(TAKEOVER).pollInterval(Duration.ofMillis(100)).until(() -> runs(cluster));
        assertThat(leads(standby)).isTrue();
        await()
            .atMost(Duration.ofSeconds(30))
            .untilAsserted(() -> assertThat(load.completed()).isEqualTo(2));
      }
    }
    AuditReport report = new StoreHistory(controlPlane.store()).audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs()).hasSize(2);
  }

  private static OperatorProcess start(
      String name, ControlPlane controlPlane, TestCluster cluster) {
    return OperatorProcess.start(
            name,
            cluster.kubeconfig(),
            OperatorSettings.onFreePorts(new SecureRandom()),
            controlPlane.logs(),
            List.of())
        .awaitReady();
  }

  private static boolean leads(OperatorProcess operator) {
    try {
      return Files.readString(operator.log()).contains("operator leading=true");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean runs(TestCluster cluster) {
    return Boolean.FALSE.equals(
        cluster
            .client()
            .batch()
            .v1()
            .jobs()
            .inNamespace(cluster.namespace())
            .withName("after")
            .get()
            .getSpec()
            .getSuspend());
  }
}
