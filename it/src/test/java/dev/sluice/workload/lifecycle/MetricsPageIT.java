package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.metrics.MetricsPage;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A day of an operator in one test: jobs are admitted, wait, preempt, are evicted for each reason,
 * finish and are deleted. Afterwards its metrics are those of the page, no more and no less.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class MetricsPageIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** Metrics that this day can't have. */
  private static final Set<String> ABSENT =
      Set.of(
          // no object is there that the schemas let through and nobody can read;
          // ReadErrorRecorderTest
          "sluice_unreadable_objects_total",
          // no review takes long; ReviewMetricsTest
          "sluice_webhook_reviews_given_up_total",
          // no pod runs beyond its admission
          "sluice_pods_beyond_admission_total",
          // nobody asks when a Workload starts; StartMetricsTest
          "sluice_start_estimate_error_seconds",
          "sluice_start_estimate_coverage",
          // nobody asks whether a job would run; StartMetricsTest
          "sluice_simulation_duration_seconds",
          // no journal is written; JournalWriterTest
          "sluice_journal_dropped_events_total",
          "sluice_journal_records_total",
          "sluice_journal_bytes_total",
          // no ledger is kept; LedgerTest
          "sluice_resource_seconds_total",
          "sluice_ledger_dropped_observations_total",
          "sluice_ledger_failed_writes_total",
          "sluice_ledger_waiting_bytes",
          // there is no Budget; BudgetMetricsTest
          "sluice_budget_limit",
          "sluice_budget_spent",
          "sluice_budget_reserved",
          // no queue has quota by time of day; QuotaScheduleIT
          "sluice_cluster_queue_quota_factor",
          // nothing is reserved; ReservationIT
          "sluice_reservation_current",
          // no Workload loses pods that were ready; MetricsTest
          "kueue_workload_recovery_wait_time_seconds",
          "kueue_local_queue_workload_recovery_wait_time_seconds",
          // no Job is elastic
          "kueue_replaced_workload_slices_total",
          // one Workload preempts at a time; CycleMetricsTest
          "kueue_preemption_target_recomputations_total",
          // no queue has rules of preemption; RestartedPromisesIT
          "sluice_preemption_rule_uses_total",
          // no flavor has a price; FlavorsByCostTest
          "sluice_flavor_cost_rule_uses_total",
          // no queue has back-fill; BackfillIT
          "sluice_backfilled_workloads_total",
          "sluice_planned_starts_total",
          "sluice_planned_start_moves_total",
          // no worker cluster is there; MultiClusterIT
          "multikueue_workloads_dispatched_total",
          "multikueue_workloads_admitted_total",
          "multikueue_workloads_requeued_total",
          "multikueue_workloads_evicted_total",
          "multikueue_cluster_status",
          "multikueue_admission_latency_seconds",
          "multikueue_cluster_connected",
          "multikueue_cluster_cut_offs_total",
          "multikueue_unreadable_objects_total",
          "multikueue_workloads_fenced_total");

  private static final Pattern EVICTED =
      Pattern.compile("(?m)^kueue_evicted_workloads_total\\{.*reason=\"(\\w+)\".*}");

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new Random())
          .withMetrics("enableClusterQueueResources: true")
          .with(
              """
              fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}
              admissionFairSharing: {usageHalfLifeTime: 30s, usageSamplingInterval: 1s}
              integrations: {frameworks: [batch/job, pod]}
              waitForPodsReady:
                timeout: 20s
                requeuingStrategy: {backoffLimitCount: 1, backoffBaseSeconds: 1}
              """);

  @SuppressWarnings("NullAway.Init") // set by the test
  private Api api;

  @Test
  void everyMetricOfThePageIsServedAndNoOther(TestCluster cluster) throws Exception {
    api = new Api(cluster);
    try (LocalOperator operator =
        LocalOperator.start("operator-of-metrics", cluster.kubeconfig(), settings)) {
      MetricsEndpoint metrics =
          new MetricsEndpoint(cluster.client(), operator.settings().metricsPort());
      String token = metrics.token();
      createQueues(cluster);

      submit("stuck", "stuck", 1, "10m", "nodeSelector: {zone: nowhere}");
      runWaitPreemptFinish(cluster);
      evictByQueues(cluster);
      evictByCheck(cluster);
      api.awaitCondition("Workload", api.workloadOf("stuck"), "Evicted", "True PodsReadyTimeout");

      MetricsPage page = MetricsPage.read();
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                String body = metrics.get(token).body();
                assertThat(page.differences(body, "", ABSENT)).as(body).isEmpty();
                assertThat(evictions(body))
                    .containsExactlyInAnyOrder(
                        "AdmissionCheck",
                        "ClusterQueueStopped",
                        "Deactivated",
                        "LocalQueueStopped",
                        "PodsReadyTimeout",
                        "Preempted");
              });

      api.delete("Job", "held");
      api.delete("LocalQueue", "held");
      api.delete("ClusterQueue", cluster.name("held"));
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(metrics.get(token).body())
                      .as("series of a removed queue")
                      .doesNotContain(cluster.name("held"), "name=\"held\""));
    }
  }

  private static Set<String> evictions(String scrape) {
    Set<String> reasons = new TreeSet<>();
    EVICTED.matcher(scrape).results().map((MatchResult it) -> it.group(1)).forEach(reasons::add);
    return reasons;
  }

  private void createQueues(TestCluster cluster) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("spot"), 1)
            .withLabel("pool", "spot")
            .withLabel("zone", "a"));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "org-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "budget-${suffix}"}
        spec: {controllerName: example.test/checks}
        """);
    api.patchStatus(
        "AdmissionCheck",
        cluster.name("budget"),
        "{'status': {'conditions': [{'type': 'Active', 'status': 'True', 'reason': 'Active',"
            + " 'message': '', 'lastTransitionTime': '2026-03-01T10:00:00Z'}]}}");
    queue(
        cluster,
        "day",
        2,
        """
        {cohortName: "org-${suffix}",
         preemption: {withinClusterQueue: LowerPriority},
         admissionScope: {admissionMode: UsageBasedAdmissionFairSharing},
        """);
    queue(cluster, "stuck", 1, "{");
    queue(cluster, "drained", 1, "{");
    queue(cluster, "held", 1, "{");
    queue(
        cluster,
        "checked",
        1,
        "{admissionChecksStrategy: {admissionChecks: [{name: \"budget-${suffix}\"}]},");
  }

  /** A ClusterQueue and a LocalQueue of the same stem. */
  private void queue(TestCluster cluster, String name, int cpus, String fields) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%s-${suffix}"}
        spec:
          %s
          namespaceSelector: {},
          resourceGroups: [{
            coveredResources: [cpu],
            flavors: [{name: "f-${suffix}", resources: [{name: cpu, nominalQuota: "%d"}]}]}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %s, namespace: "${namespace}"}
        spec: {clusterQueue: "%s-${suffix}"}
        """
            .formatted(name, fields.strip().replace("\n", "\n  "), cpus, name, name));
    api.awaitCondition("LocalQueue", name, "Active", "True Ready");
  }

  /** A Job whose pods want one CPU each; {@code more} are fields of the pods. */
  private void submit(String job, String queue, int pods, String runFor, String more) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "%s"}}
            spec:
              restartPolicy: Never
              %s
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, queue, pods, pods, runFor, more));
  }

  private void runWaitPreemptFinish(TestCluster cluster) {
    submit("lazy", "day", 2, "10m", "");
    String lazy = api.awaitRunning("lazy", 2);
    api.awaitCondition("Workload", lazy, "PodsReady", "True Started");
    submit("waiting", "day", 1, "1s", "");
    String waiting = api.workloadOf("waiting");
    api.awaitCondition("Workload", waiting, "QuotaReserved", "False WaitingForQuota");
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          labels: {kueue.x-k8s.io/queue-name: day, kueue.x-k8s.io/priority-class: "urgent-${suffix}"}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String urgent = api.awaitRunning("urgent", 2);
    api.delete("Job", "lazy");
    api.patch("Workload", urgent, "{'spec': {'active': false}}");
    api.awaitCondition("Workload", urgent, "QuotaReserved", "False Deactivated");
    api.awaitCondition("Workload", waiting, "Finished", "True Succeeded");
    submit("last", "day", 1, "10m", "");
    api.awaitRunning("last", 1);
    removeGate(cluster);
  }

  /** A pod of its own, whose gate is removed when it is admitted. */
  private static void removeGate(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: alone
          namespace: "${namespace}"
          labels: {kueue.x-k8s.io/queue-name: day}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    await("the pod has no gate")
        .atMost(LIMIT)
        .until(
            () ->
                cluster
                    .client()
                    .pods()
                    .inNamespace(cluster.namespace())
                    .withName("alone")
                    .require()
                    .getSpec()
                    .getSchedulingGates()
                    .isEmpty());
  }

  private void evictByQueues(TestCluster cluster) {
    submit("drained", "drained", 1, "10m", "");
    submit("held", "held", 1, "10m", "");
    String drained = api.awaitRunning("drained", 1);
    String held = api.awaitRunning("held", 1);
    api.patch("ClusterQueue", cluster.name("drained"), "{'spec': {'stopPolicy': 'HoldAndDrain'}}");
    api.patch("LocalQueue", "held", "{'spec': {'stopPolicy': 'HoldAndDrain'}}");
    api.awaitCondition("Workload", drained, "Evicted", "True ClusterQueueStopped");
    api.awaitCondition("Workload", held, "Evicted", "True LocalQueueStopped");
  }

  private void evictByCheck(TestCluster cluster) {
    submit("checked", "checked", 1, "10m", "");
    String checked = api.workloadOf("checked");
    api.awaitCheck(checked, cluster.name("budget"), "Pending");
    // a check may be listed before there is quota, and then nothing is evicted
    api.awaitCondition("Workload", checked, "QuotaReserved", "True QuotaReserved");
    api.answerCheck(
        checked,
        cluster.name("budget"),
        "'state': 'Retry', 'message': 'not now', 'requeueAfterSeconds': 600");
    api.awaitCondition("Workload", checked, "Evicted", "True AdmissionCheck");
  }
}
