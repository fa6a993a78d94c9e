package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.journal.ReplayCommand;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.reference.RunAudit;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/**
 * Small worlds in which everything happens at random, on a real control plane and through the API
 * only; what was watched of it is judged by {@link RunAudit}. {@code -Dsluice.seed=N} makes up
 * other worlds, {@code -Dsluice.random.worlds=N} more of them at the same time, {@code
 * -Dsluice.random.steps=N} longer ones. Profile nightly plays longer ones.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Order(3)
@Tag(BuildBreadth.NIGHTLY)
class RandomRunsIT {

  private static final Logger LOG = LoggerFactory.getLogger(RandomRunsIT.class);
  private static final long SEED = 20_26;

  /**
   * In how many admissions somebody waited who could have been passed wrongly. With fewer it is
   * chance; RunAuditTest shows that one who is passed is found.
   */
  private static final int ENOUGH_TO_PASS = 100;

  private static final int WORLDS = 4;
  private static final int STEPS = 25;

  /** There is one admission in about four steps. */
  private static final int STEPS_PER_ADMISSION = 8;

  /** From one step of a world to the next. */
  private static final Duration PACE = Duration.ofMillis(350);

  /** So long nothing happens when nothing is left to do. */
  private static final Duration QUIET = Duration.ofSeconds(5);

  private static final Set<Rule> JUDGED_OTHERWISE =
      EnumSet.of(Rule.QUOTA_KEPT, Rule.PODS_WITHIN_QUOTA);

  @Test
  void whoeverPreemptsByThePoliciesKeepsThem(
      TestCluster cluster, @TempDir(cleanup = CleanupMode.ON_SUCCESS) Path journal)
      throws Exception {
    runAndReplay("random-preemption", cluster, Optional.empty(), journal);
  }

  @Test
  void whoeverSharesFairlyKeepsThePolicies(
      TestCluster cluster, @TempDir(cleanup = CleanupMode.ON_SUCCESS) Path journal)
      throws Exception {
    runAndReplay(
        "random-fair-sharing",
        cluster,
        Optional.of(
            new FairSharing(
                List.of(
                    Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
                true,
                true)),
        journal);
  }

  /**
   * Plays the worlds, and then what the engine wrote of them into its journal. The journal of a run
   * that fails stays, so that its decisions can be looked at with {@code sluice replay}.
   */
  private static void runAndReplay(
      String name, TestCluster cluster, Optional<FairSharing> sharing, Path journal)
      throws InterruptedException, ExecutionException {
    LOG.info("{} journal={}", name, journal);
    run(name, cluster, sharing, journal);
    StringWriter replay = new StringWriter();
    int exitCode =
        new CommandLine(new ReplayCommand())
            .setOut(new PrintWriter(replay))
            .execute(journal.toString());
    LOG.info("{} {}", name, replay);
    assertThat(exitCode).as(() -> journal + ": " + replay).isZero();
  }

  private static void run(
      String name, TestCluster cluster, Optional<FairSharing> sharing, Path journal)
      throws InterruptedException, ExecutionException {
    long seed = Long.getLong("sluice.seed", SEED);
    int worlds = Integer.getInteger("sluice.random.worlds", WORLDS);
    int steps = Integer.getInteger("sluice.random.steps", STEPS);
    LOG.info("{} seed={} worlds={} steps={}", name, seed, worlds, steps);
    String rules =
        sharing.isPresent()
            ? """
            fairSharing:
              preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]
            """
            : "";
    String configuration =
        rules + "journal: {enable: true, directory: \"%s\"}\n".formatted(journal);
    InstantSource clock = InstantSource.system();
    Map<Long, Instant> seen = new ConcurrentHashMap<>();
    try (LocalOperator operator = LocalOperator.start(name, cluster.kubeconfig(), configuration);
        WatchRecorder recorder =
            new WatchRecorder(
                    cluster.client(),
                    clock,
                    objectChange -> seen.put(objectChange.revision(), clock.instant()),
                    EnumSet.allOf(AuditedKind.class))
                .start();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(2 * worlds)) {
      cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
      List<Future<?>> stopping = play(cluster, seed, worlds, steps, timer);
      awaitQuiet(recorder, clock);
      assertThat(stopping).noneMatch(Future::isDone);
      timer.shutdownNow();
      assertThat(operator.isAlive()).isTrue();
      assertThat(recorder.gap()).isEmpty();
      List<ObjectChange> ownHistory =
          recorder.history().stream().filter(objectChange -> isOwn(objectChange, cluster)).toList();
      int admissions = judge(name, ownHistory, seen, sharing);
      assertThat(admissions).isGreaterThan(worlds * steps / STEPS_PER_ADMISSION);
    }
  }

  /** What an earlier run left behind is not judged. */
  private static boolean isOwn(ObjectChange objectChange, TestCluster cluster) {
    String suffix = cluster.name("");
    JsonNode metadata = objectChange.object().path("metadata");
    return metadata.path("namespace").asText().contains(suffix)
        || metadata.path("name").asText().contains(suffix);
  }

  /** Returns when all steps were done; what is returned goes on. */
  private static List<Future<?>> play(
      TestCluster cluster, long seed, int worlds, int steps, ScheduledExecutorService timer)
      throws InterruptedException, ExecutionException {
    List<Future<?>> ends = new ArrayList<>();
    List<Future<?>> stopping = new ArrayList<>();
    for (int i = 0; i < worlds; i++) {
      RandomRun world = new RandomRun(cluster, i, new Random(seed * 1000 + i));
      stopping.add(
          timer.scheduleWithFixedDelay(world::stopTheEvicted, 200, 200, TimeUnit.MILLISECONDS));
      for (int step = 0; step < steps; step++) {
        ends.add(timer.schedule(world::step, step * PACE.toMillis(), TimeUnit.MILLISECONDS));
      }
    }
    for (Future<?> end : ends) {
      end.get();
    }
    return stopping;
  }

  /** How many writes there were, and since when there are no more. */
  private record Count(long size, Instant since) {}

  private static void awaitQuiet(WatchRecorder recorder, InstantSource clock) {
    AtomicReference<Count> last = new AtomicReference<>(new Count(-1, Instant.EPOCH));
    await("nothing to happen any more")
        .atMost(Duration.ofMinutes(5))
        .pollInterval(Duration.ofMillis(500))
        .until(
            () -> {
              long size =
                  recorder.history().stream()
                      .filter(objectChange -> objectChange.kind() == AuditedKind.WORKLOAD)
                      .count();
              Count before = Objects.requireNonNull(last.get());
              if (before.size() != size) {
                last.set(new Count(size, clock.instant()));
                return false;
              }
              return before.since().isBefore(clock.instant().minus(QUIET));
            });
    assertThat(recorder.catchUp(Duration.ofSeconds(20))).isTrue();
  }

  /** Returns how many admissions there were. */
  private static int judge(
      String name,
      List<ObjectChange> history,
      Map<Long, Instant> seen,
      Optional<FairSharing> sharing) {
    List<RunAudit.Moment> moments =
        history.stream()
            .map(
                objectChange ->
                    new RunAudit.Moment(
                        objectChange, Objects.requireNonNull(seen.get(objectChange.revision()))))
            .toList();
    RunAudit.Report report = RunAudit.audit(moments, sharing);
    LOG.info(
        "{} writes={} admissions={} victims={} passable={}",
        name,
        history.size(),
        report.admissions(),
        report.victims(),
        report.passable());
    assertThat(report.violations()).as(() -> String.join("\n", RunAudit.story(moments))).isEmpty();
    List<Violation> ofJobs =
        Auditor.audit(
                history.stream()
                    .filter(
                        objectChange ->
                            objectChange.kind() != AuditedKind.LOCAL_QUEUE
                                && objectChange.kind() != AuditedKind.COHORT
                                && objectChange.kind() != AuditedKind.CLUSTER_QUEUE)
                    .toList())
            .violations();
    assertThat(ofJobs)
        .filteredOn(violation -> !JUDGED_OTHERWISE.contains(violation.rule()))
        .isEmpty();
    assertThat(report.victims()).isNotEmpty();
    if (report.admissions() > ENOUGH_TO_PASS) {
      assertThat(report.passable()).isPositive();
    }
    return report.admissions();
  }
}
