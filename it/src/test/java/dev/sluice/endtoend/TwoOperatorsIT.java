package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the operator that leads dies, the other one goes on. */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@Tag(BuildBreadth.NIGHTLY)
class TwoOperatorsIT {

  /** Shorter than what is shipped, in the same proportions. */
  private static final Duration LEASE = Duration.ofSeconds(6);

  private static final Duration RENEWAL = Duration.ofSeconds(4);
  private static final Duration RETRY = Duration.ofMillis(800);

  /** How long a step may take; on a quiet machine the lease and a second or two. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @Test
  void whenTheLeaderIsKilledTheOtherAdmitsOnceTheLeaseIsOver(
      ControlPlane controlPlane, TestCluster cluster) {
    try (OperatorProcess leader = start("leader", controlPlane, cluster)) {
      await().atMost(LIMIT).until(() -> leads(leader));
      assertThat(leader.log()).content().as("the webhooks were exercised").contains("ready=true");
      assertThat(leader.log()).content().doesNotContain("warm=false");
      String holder = holder(cluster);
      try (LocalOperator standby =
              LocalOperator.start("standby", cluster.kubeconfig(), settings());
          JobLoad load = new JobLoad(cluster, Duration.ofSeconds(1)).withRoomFor(1)) {
        load.submit(1);
        await().atMost(LIMIT).until(() -> load.isComplete(1));
        assertThat(holder(cluster)).isEqualTo(holder);

        leader.kill();
        cluster.client().resource(load.job("after")).create();

        await().atMost(LIMIT).pollInterval(Duration.ofMillis(100)).until(() -> runs(cluster));
        assertThat(standby.isAlive()).isTrue();
        assertThat(holder(cluster)).isNotEqualTo(holder);
        await().atMost(LIMIT).untilAsserted(() -> assertThat(load.completed()).isEqualTo(2));
      }
    }
    AuditReport report = new StoreHistory(controlPlane.store()).audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs()).hasSize(2);
  }

  private static OperatorProcess start(
      String name, ControlPlane controlPlane, TestCluster cluster) {
    return OperatorProcess.start(
            name, cluster.kubeconfig(), settings(), controlPlane.logs(), List.of())
        .awaitReady();
  }

  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom()).withLeases(LEASE, RENEWAL, RETRY);
  }

  /** Who leads, as its lease says. */
  private static String holder(TestCluster cluster) {
    return cluster
        .client()
        .leases()
        .inNamespace("kueue-system")
        .withName("c1f6bfd2.kueue.x-k8s.io")
        .require()
        .getSpec()
        .getHolderIdentity();
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
