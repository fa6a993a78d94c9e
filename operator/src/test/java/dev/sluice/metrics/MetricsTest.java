package dev.sluice.metrics;

import static dev.sluice.metrics.Workloads.CREATED;
import static dev.sluice.metrics.Workloads.admittedBy;
import static dev.sluice.metrics.Workloads.evicted;
import static dev.sluice.metrics.Workloads.is;
import static dev.sluice.metrics.Workloads.isNot;
import static dev.sluice.metrics.Workloads.parent;
import static dev.sluice.metrics.Workloads.pending;
import static dev.sluice.metrics.Workloads.variant;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.MetricsScrape.Exposition;
import dev.sluice.metrics.WorkloadMetrics.QueueRef;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MetricsTest {

  private static final QueueRef QUEUE = new QueueRef("cq", new LocalQueueId("team", "lq"), "high");
  private static final FlavorUsage CPU =
      new FlavorUsage("spot", "cpu", 1500, ResourceAmounts.UNLIMITED, 500, 2500, 500);

  private final AtomicReference<ReplicaRole> role = new AtomicReference<>(ReplicaRole.LEADER);
  private final MetricsScrape scrape = new MetricsScrape();
  private final WorkloadCounter census = new WorkloadCounter(CustomLabels.NONE, true);
  private final FixedViews views =
      new FixedViews()
          .clusterQueue("cq", "leaf", List.of(), CPU)
          .localQueue("team", "lq", "cq", CPU)
          .cohort("leaf", "root", CPU)
          .cohort("root", "");

  @AfterEach
  void close() {
    scrape.close();
  }

  @Test
  void pastUseIsReportedWhereItCounts() {
    gauges(all -> true, new QueueGauges.Options(false, false));
    assertThat(lines()).noneMatch(line -> line.contains("admission_fair_sharing"));

    views.pastUse("team", "lq", 2.5);
    assertThat(lines())
        .contains(
            "kueue_local_queue_admission_fair_sharing_usage{cluster_queue=\"cq\",name=\"lq\",namespace=\"team\",replica_role=\"leader\"}"
                + " 2.5");

    views.pastUse("team", "lq", Double.POSITIVE_INFINITY);
    assertThat(lines())
        .contains(
            "kueue_local_queue_admission_fair_sharing_usage{cluster_queue=\"cq\",name=\"lq\",namespace=\"team\",replica_role=\"leader\"}"
                + " +Inf");
  }

  /** Changes of 0.20, section 7: no limit is +Inf. */
  @Test
  void queuesAreReportedAsTheContractNamesThem() {
    gauges(all -> true, new QueueGauges.Options(true, true));

    assertThat(lines())
        .contains(
            "kueue_pending_workloads{cluster_queue=\"cq\",replica_role=\"leader\",status=\"active\"}"
                + " 3.0",
            "kueue_pending_workloads{cluster_queue=\"cq\",replica_role=\"leader\",status=\"inadmissible\"}"
                + " 4.0",
            "kueue_reserving_active_workloads{cluster_queue=\"cq\",replica_role=\"leader\"} 2.0",
            "kueue_admitted_active_workloads{cluster_queue=\"cq\",replica_role=\"leader\"} 1.0",
            "kueue_cluster_queue_status{cluster_queue=\"cq\",replica_role=\"leader\",status=\"active\"}"
                + " 1.0",
            "kueue_cluster_queue_status{cluster_queue=\"cq\",replica_role=\"leader\",status=\"pending\"}"
                + " 0.0",
            "kueue_cluster_queue_info{cluster_queue=\"cq\",parent_cohort=\"leaf\",replica_role=\"leader\",root_cohort=\"root\"}"
                + " 1",
            "kueue_cluster_queue_nominal_quota{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 1.5",
            "kueue_cluster_queue_borrowing_limit{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " +Inf",
            "kueue_cluster_queue_lending_limit{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 0.5",
            "kueue_cluster_queue_resource_reservation{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 2.5",
            "kueue_cluster_queue_usage{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 0.5",
            "sluice_cluster_queue_usage_ratio{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 0.3333333333333333",
            "kueue_cluster_queue_resource_usage{cluster_queue=\"cq\",cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 0.5",
            "kueue_cohort_subtree_quota{cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 1.5",
            "kueue_cohort_subtree_resource_reservations{cohort=\"leaf\",flavor=\"spot\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 2.5",
            "kueue_cohort_subtree_admitted_active_workloads{cohort=\"root\",replica_role=\"leader\"}"
                + " 1.0",
            "kueue_cohort_info{cohort=\"leaf\",parent_cohort=\"root\",replica_role=\"leader\",root_cohort=\"root\"}"
                + " 1",
            "kueue_local_queue_pending_workloads{name=\"lq\",namespace=\"team\",replica_role=\"leader\",status=\"active\"}"
                + " 3.0",
            "kueue_local_queue_status{active=\"True\",name=\"lq\",namespace=\"team\",replica_role=\"leader\"}"
                + " 1.0",
            "kueue_local_queue_status{active=\"Unknown\",name=\"lq\",namespace=\"team\",replica_role=\"leader\"}"
                + " 0.0",
            "kueue_local_queue_resource_usage{flavor=\"spot\",name=\"lq\",namespace=\"team\",replica_role=\"leader\",resource=\"cpu\"}"
                + " 0.5",
            "# TYPE kueue_cohort_info gauge");
  }

  /** Changes of 0.20, section 5: whose quotas count, where quotas follow capacity. */
  @Test
  void queuesAndCohortsNameTheOrchestratorOfTheirQuotas() {
    QueueGauges.Orchestrators orchestrators =
        new QueueGauges.Orchestrators() {
          @Override
          public String ofClusterQueue(String name) {
            return name.equals("cq") ? "research" : "";
          }

          @Override
          public String ofCohort(String name) {
            return name.equals("root") ? "research" : "";
          }
        };
    gauges(
        all -> true,
        new QueueGauges.Options(false, true, CustomLabels.NONE, Optional.of(orchestrators)));

    assertThat(lines())
        .contains(
            "kueue_cluster_queue_info{cluster_queue=\"cq\",dynamic_quota_orchestrator=\"research\",parent_cohort=\"leaf\",replica_role=\"leader\",root_cohort=\"root\"}"
                + " 1",
            "kueue_cohort_info{cohort=\"root\",dynamic_quota_orchestrator=\"research\",parent_cohort=\"\",replica_role=\"leader\",root_cohort=\"root\"}"
                + " 1",
            "kueue_cohort_info{cohort=\"leaf\",dynamic_quota_orchestrator=\"\",parent_cohort=\"root\",replica_role=\"leader\",root_cohort=\"root\"}"
                + " 1");
  }

  @Test
  void whatIsNotAskedForIsNotReported() {
    gauges(none -> false, new QueueGauges.Options(false, false));

    assertThat(text())
        .contains("kueue_pending_workloads")
        .contains("kueue_cluster_queue_usage{", "sluice_cluster_queue_usage_ratio{")
        .doesNotContain("kueue_local_queue")
        .doesNotContain("kueue_cluster_queue_resource_usage{")
        .doesNotContain("nominal_quota")
        .doesNotContain("_info{");
  }

  @Test
  void aQueueThatTerminatesOrIsBrokenSaysSo() {
    views.clusterQueue("bad", "", List.of(new InactiveReason("FlavorNotFound", "x")));
    views.clusterQueue("ending", "", List.of(new InactiveReason("Terminating", "x")));
    gauges(all -> true, new QueueGauges.Options(false, false));

    assertThat(lines())
        .contains(
            "kueue_cluster_queue_status{cluster_queue=\"bad\",replica_role=\"leader\",status=\"pending\"}"
                + " 1.0",
            "kueue_cluster_queue_status{cluster_queue=\"ending\",replica_role=\"leader\",status=\"terminating\"}"
                + " 1.0");
  }

  @Test
  void gaugesBearTheRoleOfTheMoment() {
    role.set(ReplicaRole.FOLLOWER);
    gauges(all -> true, new QueueGauges.Options(true, true));
    assertThat(text()).contains("replica_role=\"follower\"");

    role.set(ReplicaRole.LEADER);

    assertThat(text()).contains("replica_role=\"leader\"").doesNotContain("follower");
  }

  @Test
  void readinessAndPreemptionsAreCountedAndTimed() {
    WorkloadMetrics metrics = workloadMetrics(all -> true);

    metrics.podsReady(QUEUE, Duration.ofSeconds(5), Duration.ofSeconds(2));
    metrics.podsRecovered(QUEUE, Duration.ofSeconds(3));
    metrics.evictedAfterReady(QUEUE, "PodsReadyTimeout", "WaitForRecovery", Duration.ofSeconds(7));
    metrics.preempted("cq", "InClusterQueue");

    assertThat(lines())
        .contains(
            "kueue_ready_wait_time_seconds_sum{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 5.0",
            "kueue_admitted_until_ready_wait_time_seconds_sum{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 2.0",
            "kueue_workload_recovery_wait_time_seconds_sum{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 3.0",
            "kueue_local_queue_workload_recovery_wait_time_seconds_count{name=\"lq\",namespace=\"team\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1",
            "kueue_local_queue_ready_wait_time_seconds_count{name=\"lq\",namespace=\"team\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1",
            "kueue_local_queue_admitted_until_ready_wait_time_seconds_count{name=\"lq\",namespace=\"team\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1",
            "kueue_pods_ready_to_evicted_time_seconds_sum{cluster_queue=\"cq\",reason=\"PodsReadyTimeout\",replica_role=\"leader\",underlying_cause=\"WaitForRecovery\"}"
                + " 7.0",
            "kueue_preempted_workloads_total{preempting_cluster_queue=\"cq\",reason=\"InClusterQueue\",replica_role=\"leader\"}"
                + " 1.0");
  }

  @Test
  void admissionsAreCountedAndTimed() {
    WorkloadMetrics metrics = workloadMetrics(all -> true);

    metrics.quotaReserved(QUEUE, Duration.ofSeconds(2));
    metrics.admitted(QUEUE, Duration.ofSeconds(3), Duration.ofSeconds(1));

    assertThat(lines())
        .contains(
            "kueue_quota_reserved_workloads_total{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1.0",
            "kueue_quota_reserved_wait_time_seconds_bucket{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\",le=\"1.0\"}"
                + " 0",
            "kueue_quota_reserved_wait_time_seconds_bucket{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\",le=\"2.5\"}"
                + " 1",
            "kueue_quota_reserved_wait_time_seconds_bucket{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\",le=\"10240.0\"}"
                + " 1",
            "kueue_admitted_workloads_total{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1.0",
            "kueue_admission_wait_time_seconds_sum{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 3.0",
            "kueue_admission_wait_time_seconds_bucket{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\",le=\"40960.0\"}"
                + " 1",
            "kueue_admission_checks_wait_time_seconds_count{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1",
            "kueue_cohort_subtree_admitted_workloads_total{cohort=\"leaf\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1.0",
            "kueue_cohort_subtree_admitted_workloads_total{cohort=\"root\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1.0",
            "kueue_local_queue_admitted_workloads_total{name=\"lq\",namespace=\"team\",priority_class=\"high\",replica_role=\"leader\"}"
                + " 1.0",
            "# TYPE kueue_admitted_workloads_total counter",
            "kueue_admission_duration_seconds_count{cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 1",
            "# TYPE kueue_admission_wait_time_seconds histogram")
        .noneMatch(line -> line.contains("_max") && line.startsWith("kueue_"))
        .noneMatch(line -> line.contains("_created"));
    assertThat(
            lines()
                .filter(l -> l.startsWith("kueue_local_queue_admission_wait_time_seconds_bucket")))
        .hasSize(15);
    assertThat(lines().filter(l -> l.startsWith("kueue_admission_wait_time_seconds_bucket")))
        .hasSize(17);
  }

  @Test
  void theSeriesOfARemovedQueueGo() {
    WorkloadMetrics metrics = workloadMetrics(all -> true);
    gauges(all -> true, new QueueGauges.Options(true, true));
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);
    metrics.evicted(QUEUE, "ClusterQueueStopped", "", true);
    assertThat(text()).contains("\"cq\"").contains("name=\"lq\"");

    views.remove("cq");

    assertThat(text()).doesNotContain("\"cq\"").doesNotContain("name=\"lq\"");
  }

  @Test
  void whatIsRemovedEndsAndNothingElse() {
    views
        .clusterQueue("other", "leaf", List.of(), CPU)
        .localQueue("team", "other", "other", CPU)
        .localQueue("lab", "lq", "other", CPU);
    QueueRef other = new QueueRef("other", new LocalQueueId("team", "other"), "high");
    WorkloadMetrics metrics = workloadMetrics(all -> true);
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);
    metrics.admitted(other, Duration.ZERO, Duration.ZERO);
    metrics.finished(
        new QueueRef("other", new LocalQueueId("lab", "lq"), "high"),
        Optional.of(Duration.ofSeconds(1)));
    metrics.preempted("cq", "InClusterQueue");

    metrics.clusterQueueRemoved("cq");
    assertThat(text())
        .doesNotContain("cluster_queue=\"cq\"")
        .contains("cluster_queue=\"other\"", "name=\"lq\",namespace=\"team\"");

    metrics.localQueueRemoved(QUEUE.localQueue());
    assertThat(text())
        .doesNotContain("name=\"lq\",namespace=\"team\"")
        .contains("name=\"lq\",namespace=\"lab\"", "name=\"other\",namespace=\"team\"");

    metrics.cohortRemoved("leaf");
    assertThat(text()).doesNotContain("{cohort=\"leaf\"").contains("{cohort=\"root\"");
  }

  @Test
  void localQueuesThatAreNotSelectedHaveNoCounters() {
    workloadMetrics(none -> false).admitted(QUEUE, Duration.ZERO, Duration.ZERO);

    assertThat(lines()).noneMatch(line -> line.startsWith("kueue_local_queue"));
  }

  @Test
  void evictionsAreCountedByReasonAndCause() {
    WorkloadMetrics metrics = workloadMetrics(all -> true);

    metrics.evicted(QUEUE, "Deactivated", "AdmissionCheck", true);
    metrics.evicted(QUEUE, "Deactivated", "AdmissionCheck", false);
    metrics.quotaReleased(QUEUE, "Deactivated", Duration.ofSeconds(4));

    String labels =
        "{cluster_queue=\"cq\",priority_class=\"high\",reason=\"Deactivated\",replica_role=\"leader\",underlying_cause=\"AdmissionCheck\"}";
    assertThat(lines())
        .contains(
            "kueue_evicted_workloads_total" + labels + " 2.0",
            "kueue_evicted_workloads_once_total" + labels + " 1.0",
            "kueue_workload_eviction_latency_seconds_sum{cluster_queue=\"cq\",reason=\"Deactivated\",replica_role=\"leader\"}"
                + " 4.0");
  }

  @Test
  void theTransitionsOfAWorkloadAreMeasured() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    Instant at = CREATED.plusSeconds(20);

    transitions.changed(null, pending());
    transitions.changed(pending(), admittedBy("cq", is("QuotaReserved", "QuotaReserved", at)));
    transitions.changed(
        admittedBy("cq", is("QuotaReserved", "QuotaReserved", at)),
        admittedBy("cq", is("QuotaReserved", "QuotaReserved", at), is("Admitted", "Admitted", at)));
    transitions.changed(
        admittedBy("cq", is("Admitted", "Admitted", at)),
        admittedBy("cq", is("Admitted", "Admitted", at), is("Finished", "Succeeded", at)));

    String labels = "{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}";
    assertThat(lines())
        .contains(
            "kueue_quota_reserved_workloads_total" + labels + " 1.0",
            "kueue_quota_reserved_wait_time_seconds_sum" + labels + " 30.0",
            "kueue_admitted_workloads_total" + labels + " 1.0",
            "kueue_admission_checks_wait_time_seconds_sum" + labels + " 10.0",
            "kueue_finished_workloads_total" + labels + " 1.0",
            "kueue_execution_time_seconds_sum" + labels + " 10.0");
  }

  /**
   * As API 0.20 has it, a recovery is no first readiness (docs/metrics.md#clusterqueue) (changes of
   * 0.20, sections 2 and 7).
   */
  @Test
  void aRecoveryIsMeasuredForItselfAndFeedsNoMetricOfReadiness() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    var admitted = is("Admitted", "Admitted", CREATED.plusSeconds(1));

    transitions.changed(
        admittedBy("cq", admitted, isNot("PodsReady", "WaitForRecovery", CREATED.plusSeconds(18))),
        admittedBy("cq", admitted, is("PodsReady", "Recovered", CREATED.plusSeconds(30))));

    String labels = "{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}";
    assertThat(lines())
        .contains("kueue_workload_recovery_wait_time_seconds_sum" + labels + " 12.0")
        .noneMatch(line -> line.contains("ready_wait_time_seconds"));
  }

  @Test
  void whoeverFinishesWithoutHavingBeenAdmittedLeavesNoExecutionTime() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    var finished = is("Finished", "OutOfSync", CREATED.plusSeconds(20));
    var reserved = is("QuotaReserved", "QuotaReserved", CREATED.plusSeconds(10));

    transitions.changed(admittedBy("cq", reserved), admittedBy("cq", reserved, finished));

    String labels = "{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}";
    assertThat(lines())
        .contains("kueue_finished_workloads_total" + labels + " 1.0")
        .noneMatch(line -> line.contains("execution_time_seconds"));
  }

  @Test
  void anEvictionIsMeasuredUntilTheQuotaIsFree() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    var reserved = is("QuotaReserved", "QuotaReserved", CREATED);
    var evicted =
        is("Evicted", "DeactivatedDueToMaximumExecutionTimeExceeded", CREATED.plusSeconds(25));

    transitions.changed(admittedBy("cq", reserved), admittedBy("cq", reserved, evicted));
    transitions.changed(
        admittedBy("cq", reserved, evicted),
        pending(isNot("QuotaReserved", "PendingEvaluation", CREATED), evicted));

    assertThat(lines())
        .contains(
            "kueue_evicted_workloads_total{cluster_queue=\"cq\",priority_class=\"high\",reason=\"Deactivated\",replica_role=\"leader\",underlying_cause=\"MaximumExecutionTimeExceeded\"}"
                + " 1.0",
            "kueue_workload_eviction_latency_seconds_sum{cluster_queue=\"cq\",reason=\"Deactivated\",replica_role=\"leader\"}"
                + " 5.0");
  }

  /** Changes of 0.20, section 4 (WaitForPodsReadyUnscheduledTimeout): no condition says why. */
  @Test
  void theCauseOfAnEvictionIsTheOneThatTheStatisticsCount() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    var reserved = is("QuotaReserved", "QuotaReserved", CREATED);
    var starting = isNot("PodsReady", "WaitForStart", CREATED);
    for (int count = 1; count <= 2; count++) {
      var timedOut = is("Evicted", "PodsReadyTimeout", CREATED.plusSeconds(count));
      EvictionCount preempted = new EvictionCount("Preempted", "", 3);
      EvictionCount slow = new EvictionCount("PodsReadyTimeout", "WaitForStart", 4);
      transitions.changed(
          evicted(admittedBy("cq", reserved, starting), preempted, slow, unscheduled(count - 1)),
          evicted(
              admittedBy("cq", reserved, starting, timedOut), preempted, slow, unscheduled(count)));
    }

    String labels =
        "{cluster_queue=\"cq\",priority_class=\"high\",reason=\"PodsReadyTimeout\",replica_role=\"leader\",underlying_cause=\"WorkloadWaitForScheduling\"}";
    assertThat(lines())
        .contains(
            "kueue_evicted_workloads_total" + labels + " 2.0",
            "kueue_evicted_workloads_once_total" + labels + " 1.0")
        .noneMatch(line -> line.contains("WaitForStart"));
  }

  /** Workload lifecycle, section 4: each eviction that the statistics count is counted. */
  @Test
  void anEvictionThatFollowsAnotherOneIsCounted() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    var reserved = is("QuotaReserved", "QuotaReserved", CREATED);
    var ready = is("PodsReady", "Started", CREATED.plusSeconds(5));
    var preempted = is("Evicted", "Preempted", CREATED.plusSeconds(20));
    var deactivated =
        is("Evicted", "DeactivatedDueToMaximumExecutionTimeExceeded", CREATED.plusSeconds(20));
    EvictionCount first = new EvictionCount("Preempted", "", 1);
    EvictionCount second = new EvictionCount("Deactivated", "MaximumExecutionTimeExceeded", 1);
    CachedWorkload running = admittedBy("cq", reserved, ready);
    CachedWorkload stopping = evicted(admittedBy("cq", reserved, ready, preempted), first);
    CachedWorkload late = evicted(admittedBy("cq", reserved, ready, deactivated), first, second);

    transitions.changed(running, stopping);
    transitions.changed(stopping, late);
    transitions.changed(late, late);

    String labels =
        "{cluster_queue=\"cq\",priority_class=\"high\",reason=\"%s\",replica_role=\"leader\",underlying_cause=\"%s\"}"
            + " 1.0";
    String cause = "MaximumExecutionTimeExceeded";
    assertThat(lines())
        .contains(
            "kueue_evicted_workloads_total" + labels.formatted("Preempted", ""),
            "kueue_evicted_workloads_total" + labels.formatted("Deactivated", cause),
            "kueue_evicted_workloads_once_total" + labels.formatted("Deactivated", cause));
  }

  private static EvictionCount unscheduled(int count) {
    return new EvictionCount("PodsReadyTimeout", "WorkloadWaitForScheduling", count);
  }

  /** A Workload that is tried in several flavors is one Workload (semantics, section 13). */
  @Test
  void ofAFamilyTheParentIsCountedAndTheVariantTellsOfEvictions() {
    WorkloadTransitions transitions = transitions(CREATED.plusSeconds(30));
    var reserved = is("QuotaReserved", "QuotaReserved", CREATED.plusSeconds(1));
    var admitted = is("Admitted", "Admitted", CREATED.plusSeconds(1));
    var migrates = is("Evicted", "FlavorMigration", CREATED.plusSeconds(20));
    var follows = is("Evicted", "VariantEvicted", CREATED.plusSeconds(21));
    var lost = is("Evicted", "ConcurrentAdmission", CREATED.plusSeconds(22));
    var finished = is("Finished", "Succeeded", CREATED.plusSeconds(28));
    CachedWorkload running = admittedBy("cq", reserved, admitted);
    CachedWorkload done = admittedBy("cq", reserved, admitted, finished);

    transitions.changed(variant(pending()), variant(running));
    transitions.changed(parent(pending()), parent(running));
    transitions.changed(variant(running), variant(admittedBy("cq", reserved, admitted, migrates)));
    transitions.changed(parent(running), parent(admittedBy("cq", reserved, admitted, follows)));
    transitions.changed(parent(running), parent(admittedBy("cq", reserved, admitted, lost)));
    transitions.changed(parent(running), parent(done));
    transitions.changed(variant(running), variant(done));

    String labels = "{cluster_queue=\"cq\",priority_class=\"high\",replica_role=\"leader\"}";
    String evicted =
        "kueue_evicted_workloads_total{cluster_queue=\"cq\",priority_class=\"high\",reason=\"%s\",replica_role=\"leader\",underlying_cause=\"\"}"
            + " 1.0";
    assertThat(lines())
        .contains(
            "kueue_quota_reserved_workloads_total" + labels + " 1.0",
            "kueue_admitted_workloads_total" + labels + " 1.0",
            "kueue_admission_duration_seconds_count{cluster_queue=\"cq\",replica_role=\"leader\"}"
                + " 1",
            "kueue_finished_workloads_total" + labels + " 1.0",
            "kueue_execution_time_seconds_count" + labels + " 1",
            evicted.formatted("FlavorMigration"),
            evicted.formatted("ConcurrentAdmission"))
        .noneMatch(line -> line.contains("VariantEvicted"));
  }

  /** The contract's page of metrics: {@code kueue_unadmitted_workloads}, variants excluded. */
  @Test
  void variantsAreNeitherUnadmittedNorFinished() {
    gauges(all -> true, new QueueGauges.Options(false, false));
    var done = admittedBy("cq", is("Finished", "Succeeded", CREATED));
    census.changed(null, parent(pending()));
    census.changed(null, variant(pending()));
    census.changed(variant(pending()), variant(done));
    census.changed(null, variant(pending()));

    assertThat(lines())
        .contains(
            "kueue_unadmitted_workloads{cluster_queue=\"cq\",reason=\"NoReservation\",replica_role=\"leader\",underlying_cause=\"PendingEvaluation\"}"
                + " 1.0",
            "kueue_finished_workloads{cluster_queue=\"cq\",replica_role=\"leader\"} 0.0");
    census.changed(parent(pending()), null);
    assertThat(text()).doesNotContain("PendingEvaluation");
  }

  @Test
  void aFollowerCountsNothing() {
    role.set(ReplicaRole.FOLLOWER);

    transitions(CREATED).changed(pending(), admittedBy("cq", is("Admitted", "Admitted", CREATED)));

    assertThat(lines()).noneMatch(line -> line.startsWith("kueue_admitted"));
  }

  @Test
  void whoIsNotAdmittedIsCountedByReason() {
    gauges(all -> true, new QueueGauges.Options(false, false));
    var fresh = pending();
    var waiting = pending(isNot("QuotaReserved", "WaitingForQuota", CREATED));
    var done = admittedBy("cq", is("Finished", "Succeeded", CREATED));
    census.changed(null, fresh);
    census.changed(null, fresh);
    census.changed(fresh, waiting);
    census.changed(null, done);
    census.changed(null, waiting);
    census.changed(waiting, null);

    assertThat(lines())
        .contains(
            "kueue_unadmitted_workloads{cluster_queue=\"cq\",reason=\"NoReservation\",replica_role=\"leader\",underlying_cause=\"PendingEvaluation\"}"
                + " 1.0",
            "kueue_unadmitted_workloads{cluster_queue=\"cq\",reason=\"NoReservation\",replica_role=\"leader\",underlying_cause=\"WaitingForQuota\"}"
                + " 1.0",
            "kueue_local_queue_unadmitted_workloads{cluster_queue=\"cq\",name=\"lq\",namespace=\"team\",reason=\"NoReservation\",replica_role=\"leader\",underlying_cause=\"WaitingForQuota\"}"
                + " 1.0",
            "kueue_finished_workloads{cluster_queue=\"cq\",replica_role=\"leader\"} 1.0",
            "kueue_local_queue_finished_workloads{name=\"lq\",namespace=\"team\",replica_role=\"leader\"}"
                + " 1.0");

    census.changed(done, null);
    census.changed(waiting, admittedBy("cq", is("Admitted", "Admitted", CREATED)));

    assertThat(text())
        .contains("kueue_finished_workloads{cluster_queue=\"cq\",replica_role=\"leader\"} 0.0")
        .doesNotContain("WaitingForQuota");
  }

  @Test
  void cyclesAndTheBuildAreReported() {
    SchedulerMetrics scheduler =
        new SchedulerMetrics(
            scrape.registry(),
            role::get,
            true,
            new BuildInfo("v1", "abc", "2030-01-01", "java25", "HotSpot", "linux/amd64"),
            CustomLabels.NONE);

    scheduler.cycleEnded(true, Duration.ofMillis(7));
    scheduler.workloadCreated("Job", QUEUE.localQueue(), Duration.ofMillis(15));

    assertThat(lines())
        .contains(
            "kueue_admission_attempts_total{replica_role=\"leader\",result=\"success\"} 1.0",
            "kueue_admission_attempt_duration_seconds_bucket{replica_role=\"leader\",result=\"success\",le=\"0.005\"}"
                + " 0",
            "kueue_admission_attempt_duration_seconds_bucket{replica_role=\"leader\",result=\"success\",le=\"0.01\"}"
                + " 1",
            "kueue_workload_creation_latency_seconds_bucket{job_kind=\"Job\",replica_role=\"leader\",le=\"0.02\"}"
                + " 1",
            "kueue_workload_creation_latency_seconds_bucket{job_kind=\"Job\",replica_role=\"leader\",le=\"10.24\"}"
                + " 1",
            "kueue_build_info{build_date=\"2030-01-01\",compiler=\"HotSpot\",git_commit=\"abc\",git_version=\"v1\",go_version=\"java25\",platform=\"linux/amd64\"}"
                + " 1",
            "# TYPE kueue_build_info gauge");
  }

  /** Gate MetricForWorkloadCreationLatency. */
  @Test
  void withoutTheGateCreationsAreNotMeasured() {
    SchedulerMetrics scheduler =
        new SchedulerMetrics(
            scrape.registry(),
            role::get,
            false,
            new BuildInfo("v1", "abc", "2030-01-01", "java25", "HotSpot", "linux/amd64"),
            CustomLabels.NONE);
    scheduler.workloadCreated("Job", QUEUE.localQueue(), Duration.ofMillis(15));

    assertThat(text())
        .contains("kueue_build_info")
        .doesNotContain("kueue_workload_creation_latency_seconds_count");
  }

  @Test
  void theMachineIsMeasured() {
    Exposition exposition = scrape.scrape();

    assertThat(exposition.contentType()).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
    assertThat(new String(exposition.body(), StandardCharsets.UTF_8))
        .contains(
            "jvm_memory_used_bytes",
            "process_uptime_seconds",
            "jvm_threads_live_threads",
            "jvm_gc_live_data_size_bytes",
            "jvm_gc_max_data_size_bytes");
  }

  @Test
  void noFamilyIsWrittenTwice() {
    gauges(all -> true, new QueueGauges.Options(true, true));
    WorkloadMetrics metrics = workloadMetrics(all -> true);
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);
    metrics.finished(QUEUE, Optional.of(Duration.ZERO));
    census.changed(null, admittedBy("cq", is("Finished", "Succeeded", CREATED)));

    assertThat(lines().filter(line -> line.startsWith("# TYPE"))).doesNotHaveDuplicates();
    assertThat(text())
        .contains(
            "# TYPE kueue_finished_workloads gauge",
            "# TYPE kueue_finished_workloads_total counter");
  }

  private void gauges(Predicate<LocalQueueId> reported, QueueGauges.Options options) {
    scrape.include(new QueueGauges(views, census, role::get, reported, options));
  }

  private WorkloadMetrics workloadMetrics(Predicate<LocalQueueId> reported) {
    WorkloadMetrics metrics =
        new WorkloadMetrics(scrape.registry(), views, role::get, reported, CustomLabels.NONE);
    scrape.forgetting(metrics::forgetRemoved);
    return metrics;
  }

  private WorkloadTransitions transitions(Instant now) {
    return new WorkloadTransitions(workloadMetrics(all -> true), views, role::get, () -> now, true);
  }

  private Stream<String> lines() {
    return text().lines();
  }

  private String text() {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }
}
