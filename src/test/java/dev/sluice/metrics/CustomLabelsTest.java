package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.leader.ReplicaRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CustomLabelsTest {

  private static final LocalQueueId LOCAL = new LocalQueueId("team", "lq");
  private static final QueueRef QUEUE = new QueueRef("cq", LOCAL, "urgent");

  private final Map<String, String> onClusterQueue = new HashMap<>(Map.of("tier", "gold"));
  private final FixedViews views =
      new FixedViews().clusterQueue("cq", "org", List.of()).localQueue("team", "lq", "cq");
  private final CustomLabels labels =
      new CustomLabels(
          List.of(
              new CustomLabel("tier", SourceKind.CLUSTER_QUEUE, "tier", false, List.of()),
              new CustomLabel(
                  "site", SourceKind.CLUSTER_QUEUE, "a/site", true, List.of("north", "")),
              new CustomLabel("unit", SourceKind.COHORT, "unit", false, List.of()),
              new CustomLabel("owner", SourceKind.LOCAL_QUEUE, "owner", true, List.of("ann"))),
          new Objects());
  private final MetricsScrape scrape = new MetricsScrape();
  private final WorkloadMetrics metrics =
      new WorkloadMetrics(scrape.registry(), views, () -> ReplicaRole.LEADER, id -> true, labels);

  private final class Objects implements CustomLabels.Sources {

    @Override
    public Optional<CustomLabels.Metadata> clusterQueue(String name) {
      return Optional.of(
          new CustomLabels.Metadata(Map.copyOf(onClusterQueue), Map.of("a/site", "south")));
    }

    @Override
    public Optional<CustomLabels.Metadata> cohort(String name) {
      return Optional.empty();
    }

    @Override
    public Optional<CustomLabels.Metadata> localQueue(LocalQueueId id) {
      return id.equals(LOCAL)
          ? Optional.of(new CustomLabels.Metadata(Map.of(), Map.of("owner", "ann")))
          : Optional.empty();
    }
  }

  @BeforeEach
  void gauges() {
    scrape.include(
        new QueueGauges(
            views,
            new WorkloadCounter(),
            () -> ReplicaRole.LEADER,
            id -> true,
            new QueueGauges.Options(true, true, labels)));
  }

  @AfterEach
  void close() {
    scrape.close();
  }

  private List<String> lines(String metric) {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith(metric + "{"))
        .toList();
  }

  @Test
  void metricsTakeTheLabelsOfTheObjectThatTheyAreAbout() {
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);

    assertThat(lines("kueue_admitted_workloads_total"))
        .containsExactly(
            "kueue_admitted_workloads_total{cluster_queue=\"cq\","
                + "custom_site=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\",custom_tier=\"gold\","
                + "priority_class=\"urgent\",replica_role=\"leader\"} 1.0");
    assertThat(lines("kueue_local_queue_admitted_workloads_total"))
        .containsExactly(
            "kueue_local_queue_admitted_workloads_total{custom_owner=\"ann\",name=\"lq\","
                + "namespace=\"team\",priority_class=\"urgent\",replica_role=\"leader\"} 1.0");
  }

  @Test
  void gaugesTakeThemToo() {
    assertThat(lines("kueue_reserving_active_workloads"))
        .containsExactly(
            "kueue_reserving_active_workloads{cluster_queue=\"cq\","
                + "custom_site=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\",custom_tier=\"gold\","
                + "replica_role=\"leader\"} 2.0");
    assertThat(lines("kueue_local_queue_reserving_active_workloads"))
        .singleElement()
        .asString()
        .contains("custom_owner=\"ann\"")
        .doesNotContain("custom_tier");
  }

  @Test
  void everyFamilyOfAClusterQueueHasThem() {
    metrics.preempted("cq", "InClusterQueue");
    metrics.sliceReplaced(QUEUE);
    metrics.evicted(QUEUE, "Preempted", "", true);
    metrics.quotaReleased(QUEUE, "Preempted", Duration.ZERO);
    metrics.evictedAfterReady(QUEUE, "Preempted", "", Duration.ZERO);
    metrics.recomputed(
        new CycleStatistics.Recomputation("cq", CycleStatistics.Result.DEFERRED_FIT));

    for (String metric :
        List.of(
            "kueue_preempted_workloads_total",
            "kueue_replaced_workload_slices_total",
            "kueue_evicted_workloads_total",
            "kueue_evicted_workloads_once_total",
            "kueue_workload_eviction_latency_seconds_count",
            "kueue_pods_ready_to_evicted_time_seconds_count",
            "kueue_preemption_target_recomputations_total")) {
      assertThat(lines(metric))
          .as(metric)
          .singleElement()
          .asString()
          .contains("custom_tier=\"gold\"");
    }
  }

  @Test
  void whatHasNoObjectHasAnEmptyValue() {
    assertThat(labels.values(List.of("cohort"), List.of("org"))).containsExactly("");
    assertThat(labels.values(List.of("name", "namespace"), List.of("other", "team")))
        .containsExactly(CustomLabels.UNTRACKED);
    assertThat(labels.names(List.of("result"))).isEmpty();
    assertThat(labels.names(List.of("cohort", "cluster_queue", "flavor")))
        .containsExactly("custom_tier", "custom_site");
  }

  @Test
  void aChangedLabelBeginsNewSeries() {
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);
    metrics.clusterQueueRemoved("cq");
    onClusterQueue.put("tier", "silver");
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);

    assertThat(lines("kueue_admitted_workloads_total"))
        .singleElement()
        .asString()
        .contains("custom_tier=\"silver\"")
        .endsWith(" 1.0");
  }
}
