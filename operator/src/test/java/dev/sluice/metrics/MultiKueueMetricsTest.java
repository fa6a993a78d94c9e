package dev.sluice.metrics;

import static dev.sluice.metrics.Workloads.CREATED;
import static dev.sluice.metrics.Workloads.admittedBy;
import static dev.sluice.metrics.Workloads.inCluster;
import static dev.sluice.metrics.Workloads.is;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.MetricsScrape.Exposition;
import dev.sluice.workload.record.CachedWorkload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MultiKueueMetricsTest {

  private final MetricsScrape scrape = new MetricsScrape();
  private final MultiKueueMetrics metrics =
      new MultiKueueMetrics(
          scrape.registry(),
          () -> ReplicaRole.LEADER,
          () -> Map.of("onsite", true, "remote", false),
          () -> Map.of("cq", List.of("onsite", "new")));

  @AfterEach
  void close() {
    scrape.close();
  }

  private List<String> lines() {
    Exposition exposition = scrape.scrape();
    return new String(exposition.body(), StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void whatIsSentTakenAndTakenBackIsCountedByQueueAndCluster() {
    metrics.dispatched("cq", "onsite");
    metrics.dispatched("cq", "remote");
    metrics.admitted("cq", "onsite", Duration.ofMillis(1500));
    metrics.requeued("cq", "onsite");
    metrics.requeued("cq", "onsite");
    metrics.requeued("cq", "remote");

    assertThat(lines())
        .contains(
            "multikueue_workloads_dispatched_total{cluster=\"onsite\",cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 1.0",
            "multikueue_workloads_dispatched_total{cluster=\"remote\",cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 1.0",
            "multikueue_workloads_admitted_total{cluster=\"onsite\",cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 1.0",
            "multikueue_workloads_requeued_total{cluster=\"onsite\",cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 2.0",
            "multikueue_workloads_requeued_total{cluster=\"remote\",cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 1.0");
  }

  @Test
  void howLongAnAdmissionTookGoesIntoTheBucketsOfItsCluster() {
    metrics.admitted("cq", "onsite", Duration.ofMillis(1500));
    metrics.admitted("cq", "onsite", Duration.ofSeconds(7));
    metrics.admitted("cq", "remote", Duration.ofSeconds(-1));

    String of = "multikueue_admission_latency_seconds_";
    assertThat(lines())
        .contains(
            of + "bucket{cluster=\"onsite\",replica_role=\"leader\",le=\"1.0\"} 0",
            of + "bucket{cluster=\"onsite\",replica_role=\"leader\",le=\"2.5\"} 1",
            of + "bucket{cluster=\"onsite\",replica_role=\"leader\",le=\"10.0\"} 2",
            of + "count{cluster=\"onsite\",replica_role=\"leader\"} 2",
            of + "sum{cluster=\"onsite\",replica_role=\"leader\"} 8.5",
            of + "bucket{cluster=\"remote\",replica_role=\"leader\",le=\"1.0\"} 1",
            of + "sum{cluster=\"remote\",replica_role=\"leader\"} 0.0");
  }

  @Test
  void whatIsSwitchedOffIsCountedByTheManagerItCameFrom() {
    metrics.fenced("berlin");
    metrics.fenced("berlin");

    assertThat(lines())
        .contains(
            "multikueue_workloads_fenced_total{origin=\"berlin\",replica_role=\"leader\"} 2.0");
  }

  @Test
  void whatWorkersSendTooMuchOrUnreadableIsCounted() {
    metrics.cutOff("onsite");
    metrics.unreadable("onsite");
    metrics.unreadable("onsite");

    assertThat(lines())
        .contains(
            "multikueue_cluster_cut_offs_total{cluster=\"onsite\",replica_role=\"leader\"} 1.0",
            "multikueue_unreadable_objects_total{cluster=\"onsite\",replica_role=\"leader\"} 2.0");
  }

  /** The metrics of API 0.20 (docs/metrics.md#worker-clusters) (changes of 0.20, section 7). */
  @Test
  void evictionsAreCountedByReasonAndTheStatusOfAQueuesClustersIsTold() {
    metrics.changed(
        inCluster("onsite", admittedBy("cq")),
        admittedBy("cq", is("Evicted", "Preempted", CREATED)));
    String status =
        "multikueue_cluster_status{active=\"%s\",cluster=\"%s\",cluster_queue=\"cq\","
            + "replica_role=\"leader\"} %s";
    assertThat(lines())
        .contains(
            "multikueue_workloads_evicted_total{cluster=\"onsite\",cluster_queue=\"cq\",reason=\"Preempted\",replica_role=\"leader\"}"
                + " 1.0",
            status.formatted("True", "onsite", "1.0"),
            status.formatted("False", "onsite", "0.0"),
            status.formatted("Unknown", "new", "1.0"));
    metrics.clusterQueueRemoved("cq");
    assertThat(lines()).noneMatch(line -> line.startsWith("multikueue_workloads_evicted_total{"));
  }

  /** The contract's page of metrics: the reason of evictions is the base reason. */
  @Test
  void theReasonOfAnEvictionLeavesOutItsCause() {
    CachedWorkload evicted =
        admittedBy("cq", is("Evicted", "DeactivatedDueToRequeuingLimitExceeded", CREATED));
    metrics.changed(inCluster("onsite", admittedBy("cq")), evicted);

    assertThat(lines())
        .contains(
            "multikueue_workloads_evicted_total{cluster=\"onsite\",cluster_queue=\"cq\",reason=\"Deactivated\",replica_role=\"leader\"}"
                + " 1.0");
  }

  /** What happened between two states that are seen, as after a new list, is one more eviction. */
  @Test
  void anEvictionThatFollowsAnUnseenReservationIsCounted() {
    CachedWorkload before =
        inCluster("onsite", admittedBy("cq", is("Evicted", "Preempted", CREATED)));
    CachedWorkload after =
        inCluster("onsite", admittedBy("cq", is("Evicted", "Preempted", CREATED.plusSeconds(9))));
    metrics.changed(before, before);
    metrics.changed(before, after);

    assertThat(lines())
        .contains(
            "multikueue_workloads_evicted_total{cluster=\"onsite\",cluster_queue=\"cq\",reason=\"Preempted\",replica_role=\"leader\"}"
                + " 1.0");
  }

  @Test
  void connectionsAreToldAsTheyAre() {
    assertThat(lines())
        .contains(
            "multikueue_cluster_connected{cluster=\"onsite\",replica_role=\"leader\"} 1.0",
            "multikueue_cluster_connected{cluster=\"remote\",replica_role=\"leader\"} 0.0");
  }
}
