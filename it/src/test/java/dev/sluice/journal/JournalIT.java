package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.journal.ReplayCommand.Replay;
import dev.sluice.journal.SegmentReader.Ending;
import dev.sluice.journal.SegmentReader.Item;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Operators with a journal are killed and start again, and lose the disk that it is on. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class JournalIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int JOBS = 20;

  /** How often an operator is killed in the middle of its work. */
  private static final int KILLS = Integer.getInteger("sluice.journal.kills", 5);

  /** A process is killed after at most so many records of its own. */
  private static final int MOST_RECORDS = 200;

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new SecureRandom())
          .withLeases(Duration.ofSeconds(8), Duration.ofSeconds(7), Duration.ofMillis(500));

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  private OperatorProcess start(String name, TestCluster cluster, Path journal) {
    return OperatorProcess.start(
        name,
        cluster.kubeconfig(),
        settings.with(
            "journal: {enable: true, syncInterval: 10ms, directory: \"%s\"}"
                .formatted(journal.toAbsolutePath())),
        Path.of("target", "operators"),
        List.of());
  }

  private static void createQueue(TestCluster cluster) {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "past-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "past-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "past-${suffix}", resources: [{name: cpu, nominalQuota: 5}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: past}
        spec: {clusterQueue: "past-${suffix}"}
        """);
  }

  /**
   * Each process is killed at a random record; every second one not before it has decided
   * something, the others mostly before they lead. What could be read of its journal before is
   * there afterwards, and all of it is replayed.
   */
  @Test
  void whatKilledProcessesDecidedIsReplayed(TestCluster cluster) throws IOException {
    Path journal = directory.resolve("journal");
    JournalDirectory files = new JournalDirectory(journal, JournalRecord.types());
    try (OperatorProcess first = start("journal-first", cluster, journal).awaitReady()) {
      createQueue(cluster);
      submit(cluster, "first", JOBS, "1s");
      awaitDecisions(first, journal, 1);
      first.kill();
    }
    Random random = new Random(1);
    for (int kill = 1; kill < KILLS; kill++) {
      try (OperatorProcess operator = start("journal-killed", cluster, journal)) {
        int sessions = kill + 1;
        int records = 1 + random.nextInt(MOST_RECORDS);
        boolean decides = kill % 2 == 0;
        if (decides) {
          operator.awaitReady();
          submit(cluster, "job-" + kill, 1, "1s");
        }
        await("records of process " + kill)
            .pollInterval(Duration.ofMillis(20))
            .atMost(LIMIT)
            .failFast("the operator ended, see " + operator.log(), () -> !operator.isAlive())
            .until(
                () ->
                    files.sessions().size() == sessions
                        && records(files) >= records
                        && (!decides || decisions(files) > 0));
        long written = records(files);
        operator.kill();
        assertThat(records(files)).isGreaterThanOrEqualTo(written);
      }
    }
    try (OperatorProcess last = start("journal-last", cluster, journal).awaitReady()) {
      awaitCompleted(cluster, "first", JOBS);
      awaitCompleted(cluster, "job", (KILLS - 1) / 2);
      assertThat(last.stop()).isTrue();
      assertThat(last.exitCode()).as("of one that was told to end").hasValue(0);
    }
    assertThat(files.sessions()).hasSize(KILLS + 1).noneMatch(files::isWritten);
    assertWhole(files);
    Replay.Result result = new Replay(journal, Instant.MIN, Instant.MAX).run();
    System.out.printf(
        "journal: kills=%d events=%d cycles=%d decisions=%d%n",
        KILLS, result.events(), result.cycles(), result.decisions());
    assertThat(result.difference().map(Replay::lines)).isEmpty();
    assertThat(result.skipped()).isEmpty();
    assertThat(result.decisions()).isGreaterThan((KILLS - 1) / 2);
  }

  private static void assertWhole(JournalDirectory files) throws IOException {
    for (Path session : files.sessions()) {
      for (Path segment : files.segments(session)) {
        try (SegmentReader reader = new SegmentReader(segment, JournalRecord.types())) {
          Item item = reader.next();
          while (item instanceof Item.Entry) {
            item = reader.next();
          }
          assertThat(item)
              .as(segment.toString())
              .isInstanceOfSatisfying(
                  Item.End.class, end -> assertThat(end.ending()).isEqualTo(Ending.WHOLE));
        }
      }
    }
  }

  /**
   * The disk of the journal is read-only when the operator starts, then works, is full, and is
   * taken away: jobs are admitted all the time, what is missing is counted, and the journal says
   * so.
   */
  @Test
  void whateverBecomesOfTheDiskJobsAreAdmitted(TestCluster cluster) throws Exception {
    Path disk = Files.createDirectory(directory.resolve("disk"));
    assumeTrue(
        command("mount", "-t", "tmpfs", "-o", "size=1m,ro", "tmpfs", disk.toString()),
        "needs the right to mount a disk");
    Path journal = disk.resolve("journal");
    JournalDirectory files = new JournalDirectory(journal, JournalRecord.types());
    try (OperatorProcess operator = start("journal-disk", cluster, journal).awaitReady()) {
      createQueue(cluster);
      MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
      String token = metrics.token();

      admits(cluster, "read-only");
      assertThat(dropped(metrics, token)).isPositive();

      assertThat(command("mount", "-o", "remount,rw", disk.toString())).isTrue();
      awaitGaps(files, 1);
      admits(cluster, "written");
      awaitDecisions(operator, journal, 1);

      Path filler = disk.resolve("filler");
      fill(filler);
      double whenFull = dropped(metrics, token);
      admits(cluster, "full");
      await("records that are dropped")
          .atMost(LIMIT)
          .until(() -> dropped(metrics, token) > whenFull);
      admits(cluster, "fuller");
      Files.delete(filler);
      awaitGaps(files, 2);
      long before = decisions(journal);
      admits(cluster, "room");
      awaitDecisions(operator, journal, before + 1);

      assertThat(command("umount", "--lazy", disk.toString())).isTrue();
      assertThat(files.sessions()).isEmpty();
      admits(cluster, "removed");
      await("a journal in the directory that is there now")
          .atMost(LIMIT)
          .until(() -> !files.sessions().isEmpty());
      admits(cluster, "again");
      awaitDecisions(operator, journal, 1);
      assertWhole(files);
      Replay.Result result = new Replay(journal, Instant.MIN, Instant.MAX).run();
      assertThat(result.difference().map(Replay::lines)).isEmpty();
      assertThat(operator.stop()).isTrue();
    } finally {
      boolean unused = command("umount", "--lazy", disk.toString());
    }
  }

  private static boolean command(String... words) throws IOException, InterruptedException {
    return new ProcessBuilder(words).inheritIO().start().waitFor() == 0;
  }

  /** Writes until no byte is left. */
  private static void fill(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int i = 0; i < 2_000; i++) {
        out.write(new byte[1024]);
      }
      throw new AssertionError("the disk is larger than it was made");
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("space");
    }
  }

  private static double dropped(MetricsEndpoint metrics, String token) throws Exception {
    return metrics
        .get(token)
        .body()
        .lines()
        .filter(line -> line.startsWith("sluice_journal_dropped_events_total "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  private static void awaitGaps(JournalDirectory files, long gaps) {
    await(gaps + " gaps in the journal")
        .atMost(LIMIT)
        .until(() -> count(files, JournalRecord.Gap.class) >= gaps);
  }

  /** Jobs that are created now run. */
  private static void admits(TestCluster cluster, String name) {
    Instant created = Instant.now();
    submit(cluster, name, JOBS / 4, "1s");
    awaitCompleted(cluster, name, JOBS / 4);
    System.out.printf(
        "journal: disk=%s jobs=%d seconds=%.1f%n",
        name, JOBS / 4, Duration.between(created, Instant.now()).toMillis() / 1e3);
  }

  private static void awaitCompleted(TestCluster cluster, String name, int jobs) {
    await("jobs " + name)
        .atMost(LIMIT.multipliedBy(1 + jobs / 50))
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .batch()
                            .v1()
                            .jobs()
                            .inNamespace(cluster.namespace())
                            .list()
                            .getItems())
                    .filteredOn(job -> job.getMetadata().getName().startsWith(name + "-"))
                    .hasSize(jobs)
                    .allMatch(
                        job ->
                            job.getStatus() != null
                                && job.getStatus().getCompletionTime() != null));
  }

  private static void submit(TestCluster cluster, String name, int jobs, String runFor) {
    for (int i = 0; i < jobs; i++) {
      cluster.applyText(
          """
          apiVersion: batch/v1
          kind: Job
          metadata: {name: %s-%d, labels: {kueue.x-k8s.io/queue-name: past}}
          spec:
            template:
              metadata: {annotations: {sluice.dev/run-for: %s}}
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(name, i, runFor));
    }
  }

  private static void awaitDecisions(OperatorProcess operator, Path journal, long decisions) {
    await(decisions + " decisions in the journal")
        .atMost(LIMIT)
        .failFast("the operator ended, see " + operator.log(), () -> !operator.isAlive())
        .until(() -> decisions(journal) >= decisions);
  }

  /** How many decisions the journal holds, while it is written, too. */
  private static long decisions(Path journal) throws IOException {
    return count(new JournalDirectory(journal, JournalRecord.types()), JournalRecord.Decided.class);
  }

  private static long count(JournalDirectory files, Class<? extends JournalRecord> type)
      throws IOException {
    long count = 0;
    for (Path session : files.sessions()) {
      count += count(files, session, type);
    }
    return count;
  }

  /** How many records the latest session holds. */
  private static long records(JournalDirectory files) throws IOException {
    return count(files, files.sessions().getLast(), JournalRecord.class);
  }

  /** How many decisions the latest session holds. */
  private static long decisions(JournalDirectory files) throws IOException {
    return count(files, files.sessions().getLast(), JournalRecord.Decided.class);
  }

  private static long count(
      JournalDirectory files, Path session, Class<? extends JournalRecord> type)
      throws IOException {
    long count = 0;
    for (Path segment : files.segments(session)) {
      try (SegmentReader reader = new SegmentReader(segment, JournalRecord.types())) {
        for (Item item = reader.next(); !(item instanceof Item.End); item = reader.next()) {
          count += item instanceof Item.Entry entry && type.isInstance(entry.value()) ? 1 : 0;
        }
      }
    }
    return count;
  }
}
