package dev.sluice.metrics;

import static dev.sluice.metrics.Workloads.CREATED;
import static dev.sluice.metrics.Workloads.admittedBy;
import static dev.sluice.metrics.Workloads.is;
import static dev.sluice.metrics.Workloads.pending;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.WorkloadMetrics.QueueRef;
import dev.sluice.workload.record.CachedWorkload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CustomLabelsTest {

  private static final LocalQueueId LOCAL = new LocalQueueId("team", "lq");
  private static final QueueRef QUEUE = new QueueRef("cq", LOCAL, "urgent", List.of("big"));

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
              new CustomLabel("size", SourceKind.WORKLOAD, "a/size", false, List.of("big")),
              new CustomLabel("owner", SourceKind.LOCAL_QUEUE, "owner", true, List.of("ann"))),
          new Objects());
  private final WorkloadCounter counter = new WorkloadCounter(labels, false);
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
            counter,
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
            "kueue_local_queue_admitted_workloads_total{custom_owner=\"ann\",custom_size=\"big\",name=\"lq\","
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
  void admittedWorkloadsAreCountedByTheirLabels() {
    CachedWorkload big = withSize(admittedBy("cq", is("Admitted", "Admitted", CREATED)), "big");
    CachedWorkload odd = withSize(admittedBy("cq", is("Admitted", "Admitted", CREATED)), "odd");
    counter.changed(null, big);
    counter.changed(null, odd);
    counter.changed(odd, withSize(odd, "big"));

    assertThat(lines("kueue_admitted_active_workloads"))
        .satisfiesExactlyInAnyOrder(
            line ->
                assertThat(line)
                    .contains("custom_size=\"big\"", "custom_tier=\"gold\"")
                    .endsWith(" 2.0"),
            line ->
                assertThat(line)
                    .contains("custom_size=\"" + CustomLabels.UNTRACKED)
                    .endsWith(" 0.0"));
    assertThat(lines("kueue_local_queue_admitted_active_workloads"))
        .satisfiesExactlyInAnyOrder(
            line ->
                assertThat(line)
                    .contains("custom_size=\"big\"", "custom_owner=\"ann\"")
                    .endsWith(" 2.0"),
            line ->
                assertThat(line)
                    .contains("custom_size=\"" + CustomLabels.UNTRACKED)
                    .endsWith(" 0.0"));
    assertThat(lines("kueue_pending_workloads")).isEmpty();

    counter.changed(withSize(odd, "big"), null);
    assertThat(lines("kueue_admitted_active_workloads"))
        .anySatisfy(line -> assertThat(line).contains("\"big\"").endsWith(" 1.0"));
  }

  private static CachedWorkload withSize(CachedWorkload it, String size) {
    return new CachedWorkload(
        it.id(),
        it.version(),
        it.generation(),
        it.createdAt(),
        it.deleting(),
        it.finalizers(),
        it.owned(),
        it.owner(),
        Map.of("a/size", size),
        Map.of(),
        it.spec(),
        it.status());
  }

  @Test
  void pendingWorkloadsAreCountedByTheirLabels() {
    CachedWorkload big = withSize(pending(), "big");
    PendingGauges gauges =
        new PendingGauges(
            views,
            () -> CompletableFuture.completedFuture(Map.of()),
            () -> ReplicaRole.LEADER,
            () -> CREATED,
            new PendingGauges.Options(false, true),
            labels,
            new PendingGauges.PendingWorkloads() {
              @Override
              public CompletableFuture<Optional<List<PendingPosition>>> in(String clusterQueue) {
                return CompletableFuture.completedFuture(
                    Optional.of(
                        List.of(
                            new PendingPosition(big.id(), "lq", 0, CREATED, 0, 0, false),
                            new PendingPosition(big.id(), "lq", 0, CREATED, 1, 1, true),
                            new PendingPosition(
                                new WorkloadId("u", "team", "gone"),
                                "lq",
                                0,
                                CREATED,
                                2,
                                2,
                                true))));
              }

              @Override
              public Optional<CachedWorkload> find(WorkloadId id) {
                return id.equals(big.id()) ? Optional.of(big) : Optional.empty();
              }
            });
    scrape.include(gauges);

    assertThat(lines("kueue_pending_workloads"))
        .satisfiesExactlyInAnyOrder(
            line -> assertThat(line).contains("\"big\"", "\"active\"", "\"gold\"").endsWith(" 1.0"),
            line -> assertThat(line).contains("\"big\"", "\"inadmissible\"").endsWith(" 1.0"),
            line ->
                assertThat(line)
                    .contains("custom_size=\"" + CustomLabels.UNTRACKED, "\"active\"")
                    .endsWith(" 0.0"),
            line ->
                assertThat(line)
                    .contains("custom_size=\"" + CustomLabels.UNTRACKED, "\"inadmissible\"")
                    .endsWith(" 1.0"));
  }

  @Test
  void admissionsBelowACohortAreToldApartByTheQueues() {
    views.cohort("org", "").cohort("empty", "");
    views.clusterQueue("other", "org", List.of());

    assertThat(lines("kueue_cohort_subtree_admitted_active_workloads"))
        .satisfiesExactlyInAnyOrder(
            line ->
                assertThat(line)
                    .contains("cohort=\"org\"", "custom_tier=\"gold\"")
                    .doesNotContain("custom_unit")
                    .endsWith(" 2.0"),
            line ->
                assertThat(line).contains("cohort=\"empty\"", "custom_tier=\"\"").endsWith(" 0.0"));
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
