package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditReport.JobRecord;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thousand Jobs go through a pool with room for fifty while the operator is killed, the API
 * server restarted and the store paused. Nothing gets stuck, nothing runs twice.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@ResourceLock(JobLoad.PROCESSORS)
@Isolated("needs the processors for itself")
@Tag("faults")
class FaultsIT {

  private static final Logger LOG = LoggerFactory.getLogger(FaultsIT.class);
  private static final int JOBS = 1000;
  private static final int ROOM = 50;
  private static final int KILLS = 20;
  private static final long SEED = 20_26;

  /** Longest times in milliseconds until a kill: from its start, and from when it leads. */
  private static final int EARLY = 4_000;

  private static final int LATE = 6_000;
  private static final Duration START = Duration.ofMinutes(5);
  private static final Duration PAUSE = Duration.ofSeconds(20);

  /** After how many kills the API server is restarted, and the store paused. */
  private static final Set<Integer> RESTARTS_AFTER = Set.of(3, 10, 17);

  private static final Set<Integer> PAUSES_AFTER = Set.of(6, 13);

  /** How many Jobs the Job controller works on at once, so that as many answers may get lost. */
  private static final int MADE_AT_A_TIME = 5;

  @Test
  void nothingIsLostAndNothingRunsTwice(ControlPlane controlPlane, TestCluster cluster)
      throws InterruptedException, ExecutionException {
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .withLeases(Duration.ofSeconds(4), Duration.ofSeconds(3), Duration.ofMillis(500));
    Outages outages = new Outages(cluster.client());
    try (Restarts operator = new Restarts(cluster.kubeconfig(), settings, controlPlane.logs());
        ScheduledExecutorService faults = Executors.newScheduledThreadPool(3)) {
      operator.awaitLeading(START);
      try (JobLoad load = load(cluster)) {
        faults.scheduleWithFixedDelay(operator::watch, 1, 1, TimeUnit.SECONDS);
        List<Future<?>> disturbances = new ArrayList<>();
        Random random = new Random(SEED);
        for (int kill = 1; kill <= KILLS; kill++) {
          awaitMoment(operator, random, faults);
          operator.kill();
          if (RESTARTS_AFTER.contains(kill)) {
            outages.begin();
            disturbances.add(
                faults.submit(
                    () -> {
                      controlPlane.restart(Program.API_SERVER);
                      outages.end(faults);
                    }));
          }
          if (PAUSES_AFTER.contains(kill)) {
            ManagedProcess store = controlPlane.process(Program.ETCD);
            outages.begin();
            store.pause();
            disturbances.add(
                faults.schedule(
                    () -> {
                      store.resume();
                      outages.end(faults);
                    },
                    PAUSE.toMillis(),
                    TimeUnit.MILLISECONDS));
          }
        }
        for (Future<?> disturbance : disturbances) {
          disturbance.get();
        }
        assertThat(operator.kills()).isEqualTo(KILLS);

        await()
            .atMost(Duration.ofMinutes(15))
            .pollInterval(Duration.ofSeconds(2))
            .until(() -> load.isComplete(JOBS) && outages.over());
      } finally {
        faults.shutdownNow();
      }
    }
    StoreHistory history = new StoreHistory(controlPlane.store());
    AuditReport report = history.audit();

    List<Violation> made = outages.madeTwiceByTheJobController(report.violations());
    Set<String> madeTwice = made.stream().map(FaultsIT::job).collect(Collectors.toSet());
    LOG.info("{}; pods made twice while answers got lost: {}", report.summary(), made);

    assertThat(report.violations())
        .filteredOn(violation -> !madeTwice.contains(job(violation)) || !aboutPods(violation))
        .as(() -> "lives of those concerned: " + String.join("\n", lives(history, report)))
        .isEmpty();
    assertThat(madeTwice)
        .as("Jobs with a pod made twice")
        .hasSizeLessThanOrEqualTo(MADE_AT_A_TIME * (RESTARTS_AFTER.size() + PAUSES_AFTER.size()));
    assertThat(report.jobs()).hasSize(JOBS);
    assertThat(report.unfinished()).isEmpty();
    assertThat(report.jobs()).extracting(JobRecord::starts).containsOnly(1);
    assertThat(report.jobs())
        .filteredOn(job -> !madeTwice.contains(job.name()))
        .extracting(JobRecord::pods)
        .containsOnly(1);
    assertThat(report.jobs()).extracting(JobRecord::end).containsOnly("Complete");
  }

  /** Of the Jobs that violations are about, and of what belongs to them. */
  private static List<String> lives(StoreHistory history, AuditReport report) {
    return history.lives(
        report.violations().stream()
            .map(violation -> job(violation).replaceFirst(".*/", "") + "-")
            .distinct()
            .limit(5)
            .toList());
  }

  /** The Job whose own violation, pod or Workload it is. */
  private static String job(Violation violation) {
    return violation.subject().replaceFirst("/(job-)?(job-\\d+).*", "/$2");
  }

  private static boolean aboutPods(Violation violation) {
    return violation.rule() == Rule.ONE_SET_OF_PODS;
  }

  private static JobLoad load(TestCluster cluster) {
    JobLoad load = new JobLoad(cluster, Duration.ofSeconds(5));
    await()
        .atMost(Duration.ofMinutes(5))
        .ignoreExceptions()
        .until(() -> load.withRoomFor(ROOM) != null);
    return load.submit(JOBS);
  }

  /** One kill in four comes while the operator starts, the others when it is at work. */
  private static void awaitMoment(Restarts operator, Random random, ScheduledExecutorService timer)
      throws InterruptedException, ExecutionException {
    boolean early = random.nextInt(4) == 0;
    int millis = random.nextInt(early ? EARLY : LATE);
    if (!early) {
      operator.awaitLeading(START);
    }
    timer.schedule(() -> {}, millis, TimeUnit.MILLISECONDS).get();
  }
}
