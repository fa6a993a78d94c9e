package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.journal.SegmentReader.Item;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** An operator with a journal is killed and starts again; what both decided is replayed. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class JournalIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int JOBS = 20;

  private static OperatorSettings settings(Path journal) {
    return OperatorSettings.onFreePorts(new SecureRandom())
        .withShortLease()
        .with(
            "journal: {enable: true, syncInterval: 10ms, directory: \"%s\"}"
                .formatted(journal.toAbsolutePath()));
  }

  private static OperatorProcess start(String name, TestCluster cluster, Path journal) {
    return OperatorProcess.start(
            name,
            cluster.kubeconfig(),
            settings(journal),
            Path.of("target", "operators"),
            List.of())
        .awaitReady();
  }

  @Test
  void whatTwoProcessesDecidedIsReplayed(TestCluster cluster, @TempDir Path directory)
      throws IOException {
    Path journal = directory.resolve("journal");
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    try (OperatorProcess first = start("journal-before", cluster, journal)) {
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
      submit(cluster, "before");
      awaitDecisions(first, journal, JOBS / 2);
      first.kill();
    }
    try (OperatorProcess second = start("journal-after", cluster, journal)) {
      submit(cluster, "after");
      awaitDecisions(second, journal, 2 * JOBS);
      assertThat(second.stop()).isTrue();
      assertThat(second.exitCode()).as("of one that was told to end").hasValue(0);
    }
    JournalDirectory files = new JournalDirectory(journal, JournalRecord.types());
    assertThat(files.sessions()).hasSize(2).noneMatch(files::isWritten);
    Replay.Result result = new Replay(journal, Instant.MIN, Instant.MAX).run();
    assertThat(result.difference().map(Replay::lines)).isEmpty();
    assertThat(result.decisions()).isGreaterThanOrEqualTo(2L * JOBS);
    assertThat(result.skipped()).allMatch(each -> each.contains("without the segment before"));
  }

  private static void submit(TestCluster cluster, String name) {
    for (int i = 0; i < JOBS; i++) {
      cluster.applyText(
          """
          apiVersion: batch/v1
          kind: Job
          metadata: {name: %s-%d, labels: {kueue.x-k8s.io/queue-name: past}}
          spec:
            template:
              metadata: {annotations: {sluice.dev/run-for: 1s}}
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(name, i));
    }
  }

  private static void awaitDecisions(OperatorProcess operator, Path journal, int decisions) {
    await(decisions + " decisions in the journal")
        .atMost(LIMIT)
        .failFast("the operator ended, see " + operator.log(), () -> !operator.isAlive())
        .until(() -> decisions(journal) >= decisions);
  }

  /** How many decisions the journal holds, while it is written, too. */
  private static long decisions(Path journal) throws IOException {
    JournalDirectory files = new JournalDirectory(journal, JournalRecord.types());
    long decisions = 0;
    for (Path session : files.sessions()) {
      for (Path segment : files.segments(session)) {
        try (SegmentReader reader = new SegmentReader(segment, JournalRecord.types())) {
          for (Item item = reader.next(); !(item instanceof Item.End); item = reader.next()) {
            boolean decided =
                item instanceof Item.Entry entry && entry.value() instanceof JournalRecord.Decided;
            decisions += decided ? 1 : 0;
          }
        }
      }
    }
    return decisions;
  }
}
