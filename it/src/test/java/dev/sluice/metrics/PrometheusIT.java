package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.install.InstallManifests;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.JobExplanation;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real Prometheus scrapes an operator in a process of its own, as the ServiceMonitor says: TLS
 * with the authority of the webhooks, and the token of a service account. It holds the rules that
 * are shipped, and each alert fires because its condition is there. Only the times for which
 * conditions have to last are shorter, a second each; {@link AlertRulesIT} checks those that are
 * shipped.
 */
@Tag("faults")
@ControlPlaneTest(exclusive = true, fresh = false)
class PrometheusIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String JOB = "kueue-controller-manager-metrics-service";
  private static final String LEASE = "c1f6bfd2.kueue.x-k8s.io";
  private static final int LATE_QUEUES = 150;
  private static final int MOST_STOPS = 40;
  private static final Duration STOPPED = Duration.ofSeconds(6);
  private static final Duration RUNNING = Duration.ofMillis(150);
  private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), (\\w+)\\)");

  /**
   * Of these AlertRulesIT plays the rules: what they tell of takes days, a second replica or
   * cluster, or a fault that a process on this machine doesn't have.
   */
  private static final Set<String> PLAYED_ONLY =
      Set.of(
          "SluiceReplicaDown",
          "SluiceCertificateExpiring",
          "SluiceReviewsGivenUp",
          "SluiceUnreadableObjects",
          "SluiceRequestsFail",
          "SluiceWorkerLost",
          "SluiceMemoryNearLimit",
          "SluiceLedgerIncomplete",
          "SluiceLedgerNotWritten");

  /**
   * The code that decides is interpreted, so that a cycle takes longer than the process may run at
   * a time.
   */
  private static final List<String> TROUBLED_MACHINE =
      List.of("-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,dev.sluice.core.*::*");

  /** Who waits for a Job is told when it starts only if the Job says how long it runs. */
  private static final String LIMITED = ", kueue.x-k8s.io/max-exec-time-seconds: \"3600\"";

  private static final String FIELDS =
      """
      featureGates: {CustomMetricLabels: true}
      fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}
      """;

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new SecureRandom())
          .withLeases(Duration.ofMinutes(10), Duration.ofMinutes(9), Duration.ofSeconds(2))
          .withMetrics(
              "enableClusterQueueResources: true, customLabels: [{name: size, sourceKind: Workload,"
                  + " sourceLabelKey: example.com/size, trackedValues: [big]}]")
          .with(FIELDS);

  @SuppressWarnings("NullAway.Init") // set by the test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // set by the test
  private PrometheusServer prometheus;

  @SuppressWarnings("NullAway.Init") // set by the test
  private QueuedJobs jobs;

  @SuppressWarnings("NullAway.Init") // set by the test
  private OperatorProcess operator;

  private final Set<String> fired = new TreeSet<>();

  @Test
  void everyAlertFiresWhenItsConditionIsThere(TestCluster given, @TempDir Path directory)
      throws Exception {
    cluster = given;
    jobs = new QueuedJobs(cluster);
    holdLease();
    PrometheusConfiguration configuration =
        new PrometheusConfiguration(cluster.client(), settings.metricsPort(), JOB);
    try (OperatorProcess process =
            OperatorProcess.start(
                    "operator",
                    cluster.kubeconfig(),
                    settings.with(
                        FIELDS
                            + "journal: {enable: true, directory: \"%s\"}\n"
                                .formatted(directory.resolve("journal"))),
                    directory,
                    List.of(),
                    TROUBLED_MACHINE)
                .awaitReady();
        PrometheusServer server =
            PrometheusServer.start(directory, configuration.write(directory))) {
      operator = process;
      prometheus = server;
      awaitTarget();
      letNobodyLead();
      runAJob();
      JobExplanation explanation =
          new JobExplanation(cluster, settings.visibilityPort(), directory);
      Instant promised = promiseAStart(explanation);
      slowDown();
      createTroubledQueues();
      preempt();
      expectAStart(explanation);
      startLate(promised);
      takeAwayTheRole();
      takeAwayTheDisk(directory.resolve("journal"));
      everyExpressionHasSeries();
      await("calm").atMost(LIMIT).until(() -> !prometheus.firing().contains("SluiceDown"));
      operator.stop();
      awaitFiring("SluiceDown");
    }
    assertThat(MonitoringFiles.alerts()).containsAll(PLAYED_ONLY);
    assertThat(fired)
        .doesNotContainAnyElementsOf(PLAYED_ONLY)
        .containsAll(
            MonitoringFiles.alerts().stream()
                .filter(alert -> !PLAYED_ONLY.contains(alert))
                .toList());
  }

  /** A follower that runs alone, until whoever holds the lease is gone. */
  private void letNobodyLead() {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
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
        """);
    createQueue("day", "f", "2");
    awaitFiring("SluiceNobodyLeads");
    cluster.client().leases().inNamespace(InstallManifests.NAMESPACE).withName(LEASE).delete();
    await("no alert fires")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(prometheus.firing()).isEmpty());
  }

  /** A file is where the journal was: it can't be written on. */
  private void takeAwayTheDisk(Path journal) throws IOException {
    Files.move(journal, journal.resolveSibling("journal-before"));
    Files.write(journal, new byte[0]);
    awaitFiring("SluiceJournalIncomplete");
  }

  /** A Job with all the quota of its queue, which spends a budget. */
  private void runAJob() {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: Budget
        metadata: {name: "day-${suffix}"}
        spec:
          scope: {clusterQueue: "day-${suffix}"}
          limits: [{resource: cpu, hours: "0.001"}]
          period: Yearly
          action: Warn
          charge: AsUsed
        """);
    submit("lazy", "");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, workloadOf("lazy"), "PodsReady", "True");
    awaitFiring("SluiceQuotaNearlyUsed " + cluster.name("day"));
    awaitFiring("SluiceBudgetNearlySpent");
  }

  /**
   * Takes the processor away for six seconds, again and again, as the limit of a container does,
   * while a cycle admits from many queues: the flavor that all of them wait for is created.
   */
  private void slowDown() {
    StringBuilder objects = new StringBuilder();
    for (int i = 0; i < LATE_QUEUES; i++) {
      objects.append(queue("late" + i, "late", "1")).append("---\n");
      objects.append(workload("late" + i, "late" + i)).append("---\n");
    }
    cluster.applyText(objects.toString());
    String waiting = "sum(kueue_unadmitted_workloads{cluster_queue=~\"late.*\"}) == " + LATE_QUEUES;
    await(waiting).atMost(LIMIT).until(() -> !prometheus.query(waiting).isEmpty());
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "late-${suffix}"}
        """);
    for (int stop = 0; stop < MOST_STOPS && !isReserved("late0"); stop++) {
      operator.pause();
      await().pollDelay(STOPPED).atMost(LIMIT).until(() -> true);
      operator.resume();
      await().pollDelay(RUNNING).atMost(LIMIT).until(() -> true);
    }
    awaitFiring("SluiceSlowCycles");
    awaitFiring("SluiceSlowAdmission");
  }

  private boolean isReserved(String workload) {
    return jobs.find(QueuedJobs.WORKLOAD, workload)
        .filter(it -> it.at("/status").has("admission"))
        .isPresent();
  }

  /** A queue without flavor, one whose Workload is too large, and one with many Workloads. */
  private void createTroubledQueues() {
    createQueue("broken", "missing", "1");
    createQueue("crowded", "f", "0");
    StringBuilder objects = new StringBuilder();
    for (int i = 0; i <= 100; i++) {
      objects.append(workload("crowded" + i, "crowded")).append("---\n");
    }
    cluster.applyText(objects.toString());
    awaitFiring("SluiceClusterQueueInactive " + cluster.name("broken"));
    awaitFiring("SluiceQueueStuck " + cluster.name("crowded"));
    awaitFiring("SluiceManyPendingWorkloads " + cluster.name("crowded"));
    String big =
        "kueue_pending_workloads{cluster_queue=\"%s\", status=\"inadmissible\", custom_size=\"big\"} == 101"
            .formatted(cluster.name("crowded"));
    await(big).atMost(LIMIT).until(() -> !prometheus.query(big).isEmpty());
  }

  private void preempt() {
    submit("urgent", ", kueue.x-k8s.io/priority-class: \"urgent-${suffix}\"" + LIMITED);
    jobs.awaitCondition(QueuedJobs.WORKLOAD, workloadOf("urgent"), "PodsReady", "True");
  }

  /** A Job that waits is told when it starts, and starts. */
  private void expectAStart(JobExplanation explanation) {
    deleteJob("lazy");
    submit("next", LIMITED);
    explanation.await("next", "starts in about");
    deleteJob("urgent");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, workloadOf("next"), "PodsReady", "True");
  }

  /**
   * The head of a queue with back-fill is promised a start, another Job starts before it, and then
   * the queue has less quota.
   *
   * @return after the promised start
   */
  private Instant promiseAStart(JobExplanation explanation) {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: MaintenanceWindow
        metadata: {name: "far-${suffix}"}
        spec:
          flavors: ["none-${suffix}"]
          start: "2099-12-05T06:00:00Z"
          end: "2099-12-05T12:00:00Z"
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: promises, namespace: "${namespace}"}
        spec: {clusterQueue: "promises-${suffix}"}
        """);
    giveToPromises(3);
    submit("bounded", "promises", 2, ", kueue.x-k8s.io/max-exec-time-seconds: \"40\"");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, workloadOf("bounded"), "PodsReady", "True");
    // a minute and a second beyond the limit, and what the reservation came before this
    Instant promised = Instant.now().plusSeconds(40 + 62);
    submit("head", "promises", 2, LIMITED);
    explanation.await("head", "planned to start by");
    submit("filler", "promises", 1, LIMITED);
    jobs.awaitCondition(QueuedJobs.WORKLOAD, workloadOf("filler"), "PodsReady", "True");
    giveToPromises(2);
    return promised;
  }

  private void giveToPromises(int cpus) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata:
          name: "promises-${suffix}"
          annotations:
            sluice.dev/backfill: Depth(2)
            sluice.dev/quota-schedule: Mon-Sun 1
        spec:
          namespaceSelector: {}
          queueingStrategy: StrictFIFO
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "f-${suffix}", resources: [{name: cpu, nominalQuota: "%d"}]}]
        """
            .formatted(cpus));
  }

  /** What was taken is given back when the promised start has passed. */
  private void startLate(Instant promised) {
    await("what was promised").atMost(LIMIT).until(() -> Instant.now().isAfter(promised));
    giveToPromises(3);
    jobs.awaitCondition(QueuedJobs.WORKLOAD, workloadOf("head"), "PodsReady", "True");
    awaitFiring("SluicePlannedStartsLate " + cluster.name("promises"));
  }

  private void deleteJob(String name) {
    cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).withName(name).delete();
  }

  /** The operator puts its role back, as often as it is deleted, unless somebody forbids it. */
  private void takeAwayTheRole() {
    cluster.applyText(
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingAdmissionPolicy
        metadata: {name: "no-role-${suffix}"}
        spec:
          matchConstraints:
            resourceRules:
            - apiGroups: [rbac.authorization.k8s.io]
              apiVersions: ["*"]
              operations: [CREATE]
              resources: [clusterroles]
          validations:
          - expression: object.metadata.name != "kueue-manager-role"
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingAdmissionPolicyBinding
        metadata: {name: "no-role-${suffix}"}
        spec: {policyName: "no-role-${suffix}", validationActions: [Deny]}
        """);
    String alert = "SluiceInstallationDamaged";
    await(alert)
        .atMost(LIMIT)
        .until(
            () -> {
              // The policy isn't in force at once.
              cluster.client().rbac().clusterRoles().withName("kueue-manager-role").delete();
              return prometheus.firing().contains(alert);
            });
    fired.add(alert);
  }

  /** Every expression of rules and of the dashboard is understood, and has something to show. */
  private void everyExpressionHasSeries() throws Exception {
    assertThat(prometheus.rules())
        .hasSameSizeAs(MonitoringFiles.allRules())
        .allSatisfy(rule -> assertThat(rule.path("health").asText()).as("" + rule).isEqualTo("ok"));
    List<String> expressions = new ArrayList<>();
    MonitoringFiles.allRules().stream()
        .filter(rule -> rule.has("record"))
        .forEach(rule -> expressions.add(rule.path("record").textValue()));
    MonitoringFiles.panelExpressions()
        .forEach(panel -> expressions.add(panel.expression().replace("$queue", ".*")));
    for (String query : MonitoringFiles.variableQueries()) {
      Matcher values = LABEL_VALUES.matcher(query);
      assertThat(values.matches()).as(query).isTrue();
      expressions.add("count by (%s) (%s)".formatted(values.group(2), values.group(1)));
    }
    assertThat(expressions).hasSizeGreaterThan(20);
    await("series of every expression")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              List<String> empty = new ArrayList<>();
              for (String expression : expressions) {
                if (prometheus.query(expression).isEmpty()) {
                  empty.add(expression);
                }
              }
              assertThat(empty).isEmpty();
            });
  }

  /** Somebody who never comes back leads for an hour. */
  private void holdLease() {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Namespace
        metadata: {name: kueue-system}
        ---
        apiVersion: coordination.k8s.io/v1
        kind: Lease
        metadata: {name: c1f6bfd2.kueue.x-k8s.io, namespace: kueue-system}
        spec: {holderIdentity: somebody-else, leaseDurationSeconds: 3600}
        """);
    cluster
        .client()
        .leases()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName(LEASE)
        .edit(
            lease -> {
              // a replica of Sluice: beside another operator this one would not even begin
              lease.getMetadata().setAnnotations(Map.of("sluice.dev/holder", "somebody-else"));
              lease.getSpec().setHolderIdentity("somebody-else");
              lease.getSpec().setLeaseDurationSeconds(3600);
              lease.getSpec().setRenewTime(ZonedDateTime.now(ZoneOffset.UTC));
              return lease;
            });
  }

  private void createQueue(String name, String flavor, String cpus) {
    cluster.applyText(queue(name, flavor, cpus));
  }

  /** A ClusterQueue and a LocalQueue of the same stem; in one of them preemptors wait. */
  private static String queue(String name, String flavor, String cpus) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: "%s-${suffix}", annotations: {%s}}
    spec:
      namespaceSelector: {}
      cohortName: "%s-${suffix}"
      preemption: {withinClusterQueue: LowerPriority}
      resourceGroups:
      - coveredResources: [cpu]
        flavors: [{name: "%s-${suffix}", resources: [{name: cpu, nominalQuota: "%s"}]}]
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: %s, namespace: "${namespace}"}
    spec: {clusterQueue: "%s-${suffix}"}
    """
        .formatted(
            name,
            name.equals("day") ? "sluice.dev/preemption-delay: 3s" : "",
            name.startsWith("late") ? "late" : name,
            flavor,
            cpus,
            name,
            name);
  }

  private static String workload(String name, String queue) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: Workload
    metadata: {name: %s, namespace: "${namespace}", labels: {example.com/size: big}}
    spec:
      queueName: %s
      podSets:
      - name: main
        count: 1
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
    """
        .formatted(name, queue);
  }

  /** A Job with two pods of one CPU each. */
  private void submit(String name, String labels) {
    submit(name, "day", 2, labels);
  }

  /** A Job with so many pods of one CPU each. */
  private void submit(String name, String queue, int pods, String labels) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s%s}
        spec:
          parallelism: %4$d
          completions: %4$d
          template:
            metadata: {annotations: {sluice.dev/run-for: "30m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, queue, labels, pods));
  }

  private String workloadOf(String job) {
    return jobs.workloadOf("batch/v1/Job", job);
  }

  private void awaitFiring(String alert) {
    await(alert).atMost(LIMIT).untilAsserted(() -> assertThat(prometheus.firing()).contains(alert));
    fired.add(alert.split(" ", -1)[0]);
  }

  /** The scrape succeeds with the token, and is refused without. */
  private void awaitTarget() {
    await("the operator is scraped")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode target = prometheus.target(JOB);
              assertThat(target.path("health").asText())
                  .as(target.path("lastError").asText())
                  .isEqualTo("up");
            });
    await("no scrape without a token")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(prometheus.target("without-token").path("lastError").asText())
                    .contains("401"));
  }
}
