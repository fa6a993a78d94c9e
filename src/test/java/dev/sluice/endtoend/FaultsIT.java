package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.cli.audit.AuditReport;
import dev.sluice.cli.audit.JobRecord;
import dev.sluice.cli.audit.StoreHistory;
import dev.sluice.cli.controlplane.ControlPlane;
import dev.sluice.cli.controlplane.binaries.Program;
import dev.sluice.cli.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A thousand Jobs go through a pool with room for fifty while the operator is killed, the API
 * server restarted and the store paused. Nothing gets stuck, nothing runs twice.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
class FaultsIT {

  private static final int JOBS = 1000;
  private static final int ROOM = 50;
  private static final int KILLS = 20;
  private static final long SEED = 20_26;

  /** Times in milliseconds; between two kills the operator sometimes gets to work. */
  private static final int SHORTEST_LIFE = 500;

  private static final int LONGEST_LIFE = 11_000;
  private static final Duration PAUSE = Duration.ofSeconds(20);

  @Test
  void nothingIsLostAndNothingRunsTwice(ControlPlane controlPlane, TestCluster cluster)
      throws InterruptedException, ExecutionException, IOException {
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .withLeases(Duration.ofSeconds(3), Duration.ofSeconds(2), Duration.ofMillis(500));
    try (Restarts operator = new Restarts(cluster.kubeconfig(), settings, controlPlane.logs());
        ScheduledExecutorService faults = Executors.newScheduledThreadPool(3)) {
      await().atMost(Duration.ofMinutes(1)).until(() -> hasDefinitions(cluster));
      try (JobLoad load = load(cluster)) {
        faults.scheduleWithFixedDelay(operator::watch, 1, 1, TimeUnit.SECONDS);
        List<Future<?>> planned = new ArrayList<>();
        Random random = new Random(SEED);
        long at = 0;
        for (int i = 0; i < KILLS; i++) {
          at += random.nextInt(SHORTEST_LIFE, LONGEST_LIFE);
          planned.add(faults.schedule(operator::kill, at, TimeUnit.MILLISECONDS));
        }
        planned.addAll(disturb(controlPlane, faults, random, at));
        for (Future<?> fault : planned) {
          fault.get();
        }
        assertThat(operator.kills()).isEqualTo(KILLS);

        await()
            .atMost(Duration.ofMinutes(15))
            .pollInterval(Duration.ofSeconds(2))
            .until(() -> load.isComplete(JOBS));
      } finally {
        faults.shutdownNow();
      }
      assertThat(Files.readString(operator.log()))
          .as("the operator's log holds no stack trace")
          .doesNotContain("\tat dev.sluice");
    }
    AuditReport report = new StoreHistory(controlPlane.store()).audit();

    assertThat(report.violations()).isEmpty();
    assertThat(report.jobs()).hasSize(JOBS);
    assertThat(report.unfinished()).isEmpty();
    assertThat(report.jobs()).extracting(JobRecord::starts).containsOnly(1);
    assertThat(report.jobs()).extracting(JobRecord::pods).containsOnly(1);
    assertThat(report.jobs()).extracting(JobRecord::end).containsOnly("Complete");
  }

  private static JobLoad load(TestCluster cluster) {
    JobLoad load = new JobLoad(cluster, Duration.ofSeconds(5));
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .until(() -> load.withRoomFor(ROOM) != null);
    return load.submit(JOBS);
  }

  private static boolean hasDefinitions(TestCluster cluster) {
    return cluster
            .client()
            .apiextensions()
            .v1()
            .customResourceDefinitions()
            .withName("workloads.kueue.x-k8s.io")
            .get()
        != null;
  }

  /** Three restarts of the API server and two pauses of the store, none at the same time. */
  private static List<Future<?>> disturb(
      ControlPlane controlPlane, ScheduledExecutorService faults, Random random, long until) {
    List<Future<?>> planned = new ArrayList<>();
    long slot = until / 5;
    for (int i = 0; i < 5; i++) {
      long at = i * slot + random.nextLong(Math.max(1, slot - PAUSE.toMillis()));
      if (i % 2 == 0) {
        planned.add(
            faults.schedule(
                () -> controlPlane.restart(Program.API_SERVER), at, TimeUnit.MILLISECONDS));
      } else {
        planned.add(
            faults.schedule(controlPlane.process(Program.ETCD)::pause, at, TimeUnit.MILLISECONDS));
        planned.add(
            faults.schedule(
                controlPlane.process(Program.ETCD)::resume,
                at + PAUSE.toMillis(),
                TimeUnit.MILLISECONDS));
      }
    }
    return planned;
  }
}
