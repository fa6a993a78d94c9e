package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditReport.JobRecord;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Many Jobs go through a pool with room for few, and the whole history proves it. {@code
 * -Dsluice.jobs=N} says how many; profile nightly submits a thousand.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@ResourceLock(JobLoad.PROCESSORS)
@Tag(BuildBreadth.NIGHTLY)
class ManyJobsIT {

  private static final int JOBS = 90;

  private static final int MOST_ROOM = 50;

  /** At least so many times as many Jobs as there is room for. */
  private static final int ROUNDS = 6;

  @Test
  void manyJobsShareRoomForFew(ControlPlane controlPlane, TestCluster cluster) {
    int jobs = Integer.getInteger("sluice.jobs", JOBS);
    int room = Math.min(jobs / ROUNDS, MOST_ROOM);
    try (LocalOperator operator =
            LocalOperator.start("operator-of-many-jobs", cluster.kubeconfig(), "");
        JobLoad load = new JobLoad(cluster, Duration.ofSeconds(1)).withRoomFor(room).submit(jobs)) {
      await()
          .atMost(Duration.ofMinutes(15))
          .pollInterval(Duration.ofSeconds(1))
          .until(() -> load.isComplete(jobs) || !operator.isAlive());

      assertThat(operator.isAlive()).isTrue();
    }
    AuditReport report = new StoreHistory(controlPlane.store()).audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs())
        .hasSize(jobs)
        .extracting(JobRecord::starts, JobRecord::evictions, JobRecord::pods, JobRecord::succeeded)
        .containsOnly(tuple(1, 0, 1, 1));
    assertThat(report.jobs()).extracting(JobRecord::end).containsOnly("Complete");
    assertThat(report.peaks().values())
        .as("the room was used: all of it at least once")
        .singleElement()
        .satisfies(peak -> assertThat(peak).isEqualByComparingTo(String.valueOf(room)));
  }
}
