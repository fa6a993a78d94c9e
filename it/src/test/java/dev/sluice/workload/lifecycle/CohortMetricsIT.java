package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Metrics of cohorts that move, change their labels and are deleted, and statuses of queues. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
class CohortMetricsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String LOCAL_QUEUE = "kueue.x-k8s.io/v1beta2/LocalQueue";
  private static final String TOTAL = "kueue_cohort_subtree_admitted_workloads_total";

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new Random())
          .withMetrics(
              "enableClusterQueueResources: true, customLabels: [{name: tier, sourceKind: Cohort,"
                  + " sourceLabelKey: tier}]")
          .with(
              """
              fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}
              featureGates: {CustomMetricLabels: true}
              """);

  private static void queues(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "old-${suffix}", labels: {tier: gold}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "new-${suffix}", labels: {tier: gold}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "team-${suffix}", labels: {tier: gold}}
        spec: {parentName: "old-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          cohortName: "team-${suffix}"
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "f-${suffix}"
              resources: [{name: cpu, nominalQuota: "9"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
  }

  private static void admitted(TestCluster cluster, QueuedJobs api, String name) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s}
        spec:
          queueName: lq
          podSets:
          - name: main
            template: {spec: {containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}
        """
            .formatted(name));
    api.awaitCondition(QueuedJobs.WORKLOAD, name, "Admitted", "True");
  }

  private static Resource<GenericKubernetesResource> global(
      TestCluster cluster, String kind, String name) {
    return cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", kind)
        .withName(name);
  }

  /** The series of a family about a cohort, with their values. */
  private static List<String> series(String scrape, String family, String cohort) {
    return scrape
        .lines()
        .filter(line -> line.startsWith(family + "{"))
        .filter(line -> line.contains("cohort=\"" + cohort + "\""))
        .toList();
  }

  @Test
  void metricsFollowCohortsThatMoveAreRelabeledAndGo(TestCluster cluster) throws Exception {
    QueuedJobs api = new QueuedJobs(cluster);
    try (LocalOperator operator =
        LocalOperator.start("operator-of-cohorts", cluster.kubeconfig(), settings)) {
      MetricsEndpoint metrics =
          new MetricsEndpoint(cluster.client(), operator.settings().metricsPort());
      String token = metrics.token();
      String team = cluster.name("team");
      queues(cluster);
      admitted(cluster, api, "first");
      eventually(
          metrics,
          token,
          body -> {
            assertThat(series(body, TOTAL, cluster.name("old")))
                .singleElement()
                .asString()
                .endsWith(" 1.0");
            assertThat(series(body, "kueue_cohort_subtree_quota", team)).hasSize(1);
          });

      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: Cohort
          metadata: {name: "team-${suffix}", labels: {tier: silver}}
          spec: {parentName: "new-${suffix}"}
          """);
      eventually(
          metrics,
          token,
          body ->
              assertThat(
                      series(
                          body,
                          "kueue_cohort_subtree_admitted_active_workloads",
                          cluster.name("new")))
                  .singleElement()
                  .asString()
                  .endsWith(" 1.0"));
      admitted(cluster, api, "second");
      eventually(
          metrics,
          token,
          body -> {
            assertThat(series(body, TOTAL, cluster.name("old")))
                .singleElement()
                .asString()
                .endsWith(" 1.0");
            assertThat(series(body, TOTAL, cluster.name("new")))
                .singleElement()
                .asString()
                .endsWith(" 1.0");
            assertThat(
                    series(
                        body,
                        "kueue_cohort_subtree_admitted_active_workloads",
                        cluster.name("old")))
                .singleElement()
                .asString()
                .endsWith(" 0.0");
            assertThat(series(body, TOTAL, team))
                .as("counters of the old value stay")
                .hasSize(2)
                .allMatch(line -> line.endsWith(" 1.0"))
                .anyMatch(line -> line.contains("custom_tier=\"gold\""))
                .anyMatch(line -> line.contains("custom_tier=\"silver\""));
            for (String family :
                List.of(
                    "kueue_cohort_subtree_quota",
                    "kueue_cohort_subtree_resource_reservations",
                    "kueue_cohort_weighted_share")) {
              assertThat(series(body, family, team))
                  .as("gauges move")
                  .singleElement()
                  .asString()
                  .contains("custom_tier=\"silver\"");
            }
          });

      global(cluster, "Cohort", team).delete();
      eventually(
          metrics,
          token,
          body ->
              assertThat(body.lines().filter(line -> line.startsWith("kueue_cohort_")))
                  .noneMatch(line -> line.contains("cohort=\"" + team + "\"")));
    }
  }

  @Test
  void statusesTellTheCauseAndNothingThatIsGone(TestCluster cluster) throws Exception {
    QueuedJobs api = new QueuedJobs(cluster);
    try (LocalOperator _ =
        LocalOperator.start("operator-of-statuses", cluster.kubeconfig(), settings)) {
      queues(cluster);
      admitted(cluster, api, "one");
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(api.get(LOCAL_QUEUE, "lq").at("/status/reservingWorkloads").asInt())
                      .isOne());
      global(cluster, "ClusterQueue", cluster.name("cq")).delete();
      global(cluster, "ClusterQueue", cluster.name("cq"))
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\": {\"finalizers\": null}}");
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                var queue = api.get(LOCAL_QUEUE, "lq");
                assertThat(queue.at("/status/conditions/0/reason").asText())
                    .isEqualTo("ClusterQueueDoesNotExist");
                assertThat(queue.at("/status/reservingWorkloads").asInt()).isZero();
                assertThat(queue.at("/status/admittedWorkloads").asInt()).isZero();
              });

      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: AdmissionCheck
          metadata: {name: "a-${suffix}"}
          spec: {controllerName: kueue.x-k8s.io/multikueue}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: AdmissionCheck
          metadata: {name: "b-${suffix}"}
          spec: {controllerName: kueue.x-k8s.io/multikueue}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "two-${suffix}"}
          spec:
            namespaceSelector: {}
            admissionChecksStrategy: {admissionChecks: [{name: "a-${suffix}"}, {name: "b-${suffix}"}]}
            resourceGroups:
            - coveredResources: [cpu]
              flavors:
              - name: "f-${suffix}"
                resources: [{name: cpu, nominalQuota: "9"}]
          """);
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                String status =
                    Serialization.asJson(
                        global(cluster, "ClusterQueue", cluster.name("two"))
                            .require()
                            .get("status", "conditions"));
                assertThat(status)
                    .contains(
                        "\"reason\":\"AdmissionCheckInactive\"",
                        "is not active",
                        "only one check of it is allowed");
              });
    }
  }

  /** Judges a scrape. */
  private interface Judgement {
    void accept(String body);
  }

  private static void eventually(MetricsEndpoint metrics, String token, Judgement judgement) {
    await().atMost(LIMIT).untilAsserted(() -> judgement.accept(metrics.get(token).body()));
  }
}
