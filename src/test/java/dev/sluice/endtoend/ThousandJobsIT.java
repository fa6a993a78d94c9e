package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.JobRecord;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A thousand Jobs go through a pool with room for fifty, and the whole history proves it. */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@ResourceLock(JobLoad.PROCESSORS)
@Isolated("needs the processors for itself")
class ThousandJobsIT {

  private static final int JOBS = 1000;
  private static final int ROOM = 50;

  @Test
  void aThousandJobsShareRoomForFifty(ControlPlane controlPlane, TestCluster cluster) {
    try (OperatorProcess operator =
            OperatorProcess.start(
                    "operator",
                    cluster.kubeconfig(),
                    OperatorSettings.onFreePorts(new SecureRandom()),
                    controlPlane.logs(),
                    List.of())
                .awaitReady();
        JobLoad load = new JobLoad(cluster, Duration.ofSeconds(1)).withRoomFor(ROOM).submit(JOBS)) {
      await()
          .atMost(Duration.ofMinutes(15))
          .pollInterval(Duration.ofSeconds(2))
          .until(() -> load.isComplete(JOBS));

      assertThat(operator.isAlive()).isTrue();
    }
    AuditReport report = new StoreHistory(controlPlane.store()).audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs())
        .hasSize(JOBS)
        .extracting(JobRecord::starts, JobRecord::evictions, JobRecord::pods, JobRecord::succeeded)
        .containsOnly(tuple(1, 0, 1, 1));
    assertThat(report.jobs()).extracting(JobRecord::end).containsOnly("Complete");
    assertThat(report.peaks().values())
        .as("the room was used: all of it at least once")
        .singleElement()
        .satisfies(peak -> assertThat(peak).isEqualByComparingTo(String.valueOf(ROOM)));
  }
}
