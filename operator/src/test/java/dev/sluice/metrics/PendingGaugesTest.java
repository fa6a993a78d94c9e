package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.workload.record.CachedWorkload;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PendingGaugesTest {

  private static final Instant NOW = Instant.parse("2030-01-01T00:00:30Z");
  private static final PendingTotals SUMMARY =
      new PendingTotals(
          2,
          3,
          new TreeMap<>(Map.of("cpu", 1500L, "memory", 64L)),
          Optional.of(NOW.minusSeconds(12)));

  private static final PendingGauges.PendingWorkloads NOT_ASKED =
      new PendingGauges.PendingWorkloads() {
        @Override
        public CompletableFuture<Optional<List<PendingPosition>>> in(String clusterQueue) {
          throw new AssertionError("no label comes from Workloads");
        }

        @Override
        public Optional<CachedWorkload> find(WorkloadId id) {
          throw new AssertionError("no label comes from Workloads");
        }
      };

  private static final PendingGauges.Options ALL = new PendingGauges.Options(true, true);

  private final FixedViews views = new FixedViews().clusterQueue("cq", "", List.of());

  private String scrape(
      CompletableFuture<Map<String, PendingTotals>> answer, PendingGauges.Options options) {
    try (MetricsScrape scrape = new MetricsScrape()) {
      PendingGauges gauges =
          new PendingGauges(
              views,
              () -> answer,
              () -> ReplicaRole.LEADER,
              () -> NOW,
              options,
              CustomLabels.NONE,
              NOT_ASKED);
      gauges.preemptionSkips(Map.of("cq", 4, "gone", 1));
      scrape.include(gauges);
      return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void pendingWorkloadsAreReported() {
    assertThat(scrape(CompletableFuture.completedFuture(Map.of("cq", SUMMARY)), ALL))
        .contains(
            "kueue_pending_scheduling_hashes{cluster_queue=\"cq\",replica_role=\"leader\","
                + "status=\"active\"} 2.0",
            "kueue_pending_scheduling_hashes{cluster_queue=\"cq\",replica_role=\"leader\","
                + "status=\"inadmissible\"} 3.0",
            "kueue_cluster_queue_resource_pending{cluster_queue=\"cq\",replica_role=\"leader\","
                + "resource=\"cpu\"} 1.5",
            "kueue_cluster_queue_resource_pending{cluster_queue=\"cq\",replica_role=\"leader\","
                + "resource=\"memory\"} 64.0",
            "sluice_oldest_pending_workload_seconds{cluster_queue=\"cq\","
                + "replica_role=\"leader\"} 12.0",
            "kueue_admission_cycle_preemption_skips{cluster_queue=\"cq\","
                + "replica_role=\"leader\"} 4.0")
        .doesNotContain("gone");
  }

  @Test
  void requestsAreOptional() {
    assertThat(
            scrape(
                CompletableFuture.completedFuture(Map.of("cq", SUMMARY)),
                new PendingGauges.Options(false, true)))
        .contains("kueue_pending_scheduling_hashes")
        .doesNotContain("kueue_cluster_queue_resource_pending");
  }

  /** The second option is the gate SchedulingEquivalenceHashing. */
  @Test
  void hashesAreReportedWithTheirGateOnly() {
    PendingGauges.Options noHashes = new PendingGauges.Options(true, false);
    assertThat(scrape(CompletableFuture.completedFuture(Map.of("cq", SUMMARY)), noHashes))
        .contains("kueue_cluster_queue_resource_pending", "sluice_oldest_pending_workload_seconds")
        .doesNotContain("kueue_pending_scheduling_hashes");
  }

  @Test
  void aSchedulerThatFailsToAnswerLeavesItsGaugesOut() {
    assertThat(scrape(CompletableFuture.failedFuture(new IllegalStateException("no")), ALL))
        .contains("kueue_admission_cycle_preemption_skips")
        .doesNotContain("kueue_pending_scheduling_hashes");
  }
}
