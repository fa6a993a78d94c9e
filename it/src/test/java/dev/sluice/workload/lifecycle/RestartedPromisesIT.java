package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.JobExplanation;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Each rule about time through the API, while the operator is killed before a wait is over, when it
 * is, and after somebody was evicted for it: nothing that was promised is forgotten.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class RestartedPromisesIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** Longer than two restarts take. */
  private static final Duration TIME = Duration.ofSeconds(45);

  private static final String REQUESTED =
      "/metadata/annotations/sluice.dev~1checkpoint-requested-at";

  private static final Pattern PLANNED =
      Pattern.compile("planned to start by (\\S+) at the latest(.*)");

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set by the test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // set by the test
  private Api api;

  @Test
  void nothingThatWasPromisedIsForgotten(TestCluster own) {
    cluster = own;
    api = new Api(own);
    OperatorProcess operator = start();
    try (WatchRecorder recorder = new WatchRecorder(own.client(), InstantSource.system())) {
      recorder.start();
      createQueues();
      wearOut("often");
      for (String queue : List.of("ran", "delayed", "saved")) {
        submit("lazy-" + queue, queue, 2, "", 600);
        api.awaitRunning("lazy-" + queue, 1);
      }
      Instant admitted = since("lazy-ran", "Admitted");
      submit("runs", "planned", 3, "", 600);
      api.awaitRunning("runs", 1);
      submit("guest", "kept", 2, "", 600);
      api.awaitRunning("guest", 1);
      Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS).plus(TIME);
      reserve(start, start.plus(Duration.ofHours(1)));
      for (String queue : List.of("ran", "often", "delayed", "saved")) {
        submit("urgent-" + queue, queue, 2, "urgent", 600);
      }
      submit("large", "planned", 4, "", 600);
      awaitTime(created("large").plusSeconds(1));
      submit("long", "planned", 1, "", 3_600);
      api.awaitMessage(api.workloadOf("urgent-ran"), "QuotaReserved", "min-run-time");
      api.awaitMessage(api.workloadOf("urgent-often"), "QuotaReserved", "max-preemptions");
      api.awaitMessage(api.workloadOf("urgent-delayed"), "QuotaReserved", "preemption-delay");
      api.awaitEvent(api.workloadOf("lazy-saved"), "CheckpointRequested");
      Instant asked = requestedAt("lazy-saved");
      Instant planned = planned();
      awaitCounted("min-run-time", "max-preemptions", "preemption-delay");

      operator = restarted(operator); // while they wait
      assertThat(planned()).isBeforeOrEqualTo(planned);
      assertThat(requestedAt("lazy-saved")).isEqualTo(asked);

      awaitTime(start);
      operator = restarted(operator); // when they are over
      for (String queue : List.of("ran", "delayed", "saved")) {
        api.awaitCondition(
            "Workload", api.workloadOf("lazy-" + queue), "Preempted", "True InClusterQueue");
      }
      operator = restarted(operator); // after the evictions
      for (String queue : List.of("ran", "delayed", "saved")) {
        api.awaitCondition(
            "Workload", api.workloadOf("urgent-" + queue), "Admitted", "True Admitted");
      }
      api.awaitCondition("Workload", api.workloadOf("guest"), "Evicted", "True CapacityReserved");
      submit("user", "users", 2, "", 600);
      api.awaitCondition("Workload", api.workloadOf("user"), "Admitted", "True Admitted");

      assertThat(evictedAt("lazy-ran")).isAfterOrEqualTo(admitted.plus(TIME));
      assertThat(evictedAt("lazy-delayed")).isAfterOrEqualTo(created("urgent-delayed").plus(TIME));
      assertThat(evictedAt("lazy-saved")).isAfterOrEqualTo(asked.plus(TIME));
      assertThat(requestedAt("lazy-saved")).isEqualTo(asked);
      assertThat(evictedAt("guest")).isAfterOrEqualTo(start);
      assertThat(api.condition("Workload", api.workloadOf("lazy-often"), "QuotaReserved"))
          .startsWith("True");
      assertThat(api.condition("Workload", api.workloadOf("long"), "QuotaReserved"))
          .doesNotStartWith("True");
      startsBefore(planned);
      assertThat(recorder.catchUp(LIMIT)).isTrue();
      assertThat(Auditor.audit(own.own(recorder.history())).violations()).isEmpty();
      assertThat(operator.stop()).isTrue();
    } finally {
      operator.close();
    }
  }

  /**
   * A job answers while the operator is killed, a preemptor goes, a small job runs before the
   * planned start, a reservation and a window begin while no operator is there, and end so.
   */
  @Test
  void whatBeginsAndEndsWhileNobodyIsThereIsNotMissed(TestCluster own) {
    cluster = own;
    api = new Api(own);
    OperatorProcess operator = start();
    try (WatchRecorder recorder = new WatchRecorder(own.client(), InstantSource.system())) {
      recorder.start();
      createMoreQueues();
      Instant worn = wearOut("again");
      for (String queue : List.of("asked", "spared")) {
        submit("lazy-" + queue, queue, 2, "", 600);
        api.awaitRunning("lazy-" + queue, 1);
      }
      submit("runs", "planned", 3, "", 600);
      submit("guest", "kept", 2, "", 600);
      submit("tenant", "rack", 2, "", 600);
      for (String job : List.of("runs", "guest", "tenant")) {
        api.awaitRunning(job, 1);
      }
      Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS).plus(TIME).plus(TIME);
      Instant end = start.plus(TIME).plus(TIME);
      reserve(start, end);
      maintain(start, end);
      for (String queue : List.of("asked", "spared", "again")) {
        submit("urgent-" + queue, queue, 2, "urgent", 600);
      }
      submit("large", "planned", 4, "", 600);
      api.awaitEvent(api.workloadOf("lazy-asked"), "CheckpointRequested");
      api.awaitEvent(api.workloadOf("lazy-spared"), "CheckpointRequested");
      Instant asked = requestedAt("lazy-asked");
      Instant planned = planned();

      operator = restarted(operator); // while jobs are asked, and before anything begins
      assertThat(planned()).isBeforeOrEqualTo(planned);
      assertThat(requestedAt("lazy-asked")).isEqualTo(asked);
      api.delete("Job", "urgent-spared");
      api.awaitField("Workload", api.workloadOf("lazy-spared"), REQUESTED, "");
      api.awaitField("Job", "lazy-spared", REQUESTED, "");
      awaitTime(created("large").plusSeconds(1));
      submit("small", "planned", 1, "", 10, "1s");
      api.awaitCondition("Workload", api.workloadOf("small"), "Finished", "True Succeeded");
      assertThat(planned()).isBeforeOrEqualTo(planned);
      api.patch(
          "Job",
          "lazy-asked",
          "{'metadata': {'annotations': {'sluice.dev/checkpointed-at': '%s'}}}"
              .formatted(Instant.now().plusSeconds(1).truncatedTo(ChronoUnit.SECONDS)));
      operator = restarted(operator); // as the job answers
      api.awaitCondition(
          "Workload", api.workloadOf("lazy-asked"), "Preempted", "True InClusterQueue");
      api.awaitCondition("Workload", api.workloadOf("urgent-asked"), "Admitted", "True Admitted");

      operator.kill();
      awaitTime(start.plusSeconds(1));
      operator = start(); // after the start, which nobody saw
      for (String job : List.of("guest", "tenant")) {
        api.awaitCondition("Workload", api.workloadOf(job), "Evicted", "True CapacityReserved");
        assertThat(evictedAt(job)).isAfterOrEqualTo(start);
      }
      submit("user", "users", 2, "", 600);
      api.awaitCondition("Workload", api.workloadOf("user"), "Admitted", "True Admitted");
      api.awaitCondition(
          "Workload", api.workloadOf("lazy-again"), "Preempted", "True InClusterQueue");
      assertThat(evictedAt("lazy-again")).isAfterOrEqualTo(worn.plus(TIME));
      api.awaitCondition("Workload", api.workloadOf("urgent-again"), "Admitted", "True Admitted");

      operator = restarted(operator); // in between
      api.delete("Job", "user");
      api.awaitMessage(
          api.workloadOf("guest"),
          "QuotaReserved",
          "CapacityReserved: held for CapacityReservation");
      api.awaitMessage(
          api.workloadOf("tenant"),
          "QuotaReserved",
          "CapacityReserved: held for MaintenanceWindow");

      operator.kill();
      awaitTime(end.plusSeconds(1));
      operator = start(); // after the end, which nobody saw
      for (String job : List.of("guest", "tenant")) {
        api.awaitCondition("Workload", api.workloadOf(job), "Admitted", "True Admitted");
        assertThat(since(job, "Admitted")).isAfterOrEqualTo(end);
      }
      assertThat(api.condition("Workload", api.workloadOf("lazy-spared"), "QuotaReserved"))
          .startsWith("True");
      startsBefore(planned);
      assertThat(recorder.catchUp(LIMIT)).isTrue();
      assertThat(Auditor.audit(own.own(recorder.history())).violations()).isEmpty();
      assertThat(operator.stop()).isTrue();
    } finally {
      operator.close();
    }
  }

  /** The large Job starts once there is room, before the time that it was told first. */
  private void startsBefore(Instant planned) {
    assertThat(planned()).isBeforeOrEqualTo(planned);
    api.delete("Job", "runs");
    api.awaitCondition("Workload", api.workloadOf("large"), "Admitted", "True Admitted");
    assertThat(Instant.now()).isBefore(planned);
  }

  private static void awaitTime(Instant time) {
    await(time.toString()).atMost(LIMIT).until(() -> Instant.now().isAfter(time));
  }

  private OperatorProcess start() {
    return OperatorProcess.start(
            "promises", cluster.kubeconfig(), settings, Path.of("target", "operators"), List.of())
        .awaitReady();
  }

  private OperatorProcess restarted(OperatorProcess operator) {
    operator.kill();
    return start();
  }

  /** One Workload of a queue is preempted as often as it may be; when it was. */
  private Instant wearOut(String queue) {
    submit("lazy-" + queue, queue, 2, "", 600);
    api.awaitRunning("lazy-" + queue, 1);
    submit("first-" + queue, queue, 2, "urgent", 600);
    api.awaitCondition("Workload", api.workloadOf("first-" + queue), "Admitted", "True Admitted");
    Instant evictedAt = evictedAt("lazy-" + queue);
    api.delete("Job", "first-" + queue);
    api.awaitCondition("Workload", api.workloadOf("lazy-" + queue), "Admitted", "True Admitted");
    return evictedAt;
  }

  private Instant created(String job) {
    return Instant.parse(
        api.get("Workload", api.workloadOf(job)).at("/metadata/creationTimestamp").asText());
  }

  private Instant since(String job, String type) {
    for (JsonNode condition : api.get("Workload", api.workloadOf(job)).at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return Instant.parse(condition.path("lastTransitionTime").asText());
      }
    }
    throw new AssertionError(job + " has no condition " + type);
  }

  private Instant evictedAt(String job) {
    return since(job, "Evicted");
  }

  private Instant requestedAt(String job) {
    return Instant.parse(api.get("Workload", api.workloadOf(job)).at(REQUESTED).asText());
  }

  /** When the large Job starts at the latest; it was never told to be later. */
  private Instant planned() {
    JobExplanation explanation = new JobExplanation(cluster, settings.visibilityPort(), directory);
    explanation.await("large", "planned to start by ");
    Matcher matcher = PLANNED.matcher(explanation.of("large"));
    assertThat(matcher.find()).isTrue();
    assertThat(matcher.group(2)).doesNotContain("later by");
    return Instant.parse(matcher.group(1));
  }

  private void awaitCounted(String... rules) {
    MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
    await("metrics")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              String body = metrics.get(metrics.token()).body();
              for (String rule : rules) {
                assertThat(body)
                    .containsPattern(
                        "sluice_preemption_rule_uses_total\\{[^}]*rule=\"" + rule + "\"[^}]*} ");
              }
            });
  }

  private void createFlavors() {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "rack-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 5
        """);
  }

  private void createMoreQueues() {
    createFlavors();
    createQueue("asked", 2, "sluice.dev/checkpoint-grace: 15m", "BestEffortFIFO");
    createQueue("spared", 2, "sluice.dev/checkpoint-grace: 15m", "BestEffortFIFO");
    createQueue(
        "again", 2, "sluice.dev/max-preemptions: 1/" + TIME.toSeconds() + "s", "BestEffortFIFO");
    createQueue("planned", 4, "sluice.dev/backfill: HeadOnly", "StrictFIFO");
    createKeptQueue();
    createQueue("rack", 2, "", "BestEffortFIFO");
  }

  private void createQueues() {
    createFlavors();
    String seconds = TIME.toSeconds() + "s";
    createQueue("ran", 2, "sluice.dev/min-run-time: " + seconds, "BestEffortFIFO");
    createQueue("often", 2, "sluice.dev/max-preemptions: 1/24h", "BestEffortFIFO");
    createQueue("delayed", 2, "sluice.dev/preemption-delay: " + seconds, "BestEffortFIFO");
    createQueue("saved", 2, "sluice.dev/checkpoint-grace: " + seconds, "BestEffortFIFO");
    createQueue("planned", 4, "sluice.dev/backfill: HeadOnly", "StrictFIFO");
    createKeptQueue();
  }

  private void createKeptQueue() {
    createQueue("kept", 2, "", "BestEffortFIFO");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: users, namespace: "${namespace}"}
        spec: {clusterQueue: "kept-${suffix}"}
        """);
  }

  private void createQueue(String name, int cpu, String annotation, String strategy) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%1$s-${suffix}", annotations: {%2$s}}
        spec:
          namespaceSelector: {}
          queueingStrategy: %3$s
          preemption: {withinClusterQueue: %5$s}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "%6$s-${suffix}", resources: [{name: cpu, nominalQuota: %4$d}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %1$s, namespace: "${namespace}"}
        spec: {clusterQueue: "%1$s-${suffix}"}
        """
            .formatted(
                name,
                annotation,
                strategy,
                cpu,
                name.equals("planned") ? "Never" : "LowerPriority",
                name.equals("rack") ? "rack" : "f"));
  }

  private void maintain(Instant start, Instant end) {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: MaintenanceWindow
        metadata: {name: "rack-${suffix}"}
        spec: {flavors: ["rack-${suffix}"], start: "%s", end: "%s"}
        """
            .formatted(start, end));
  }

  private void reserve(Instant start, Instant end) {
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: CapacityReservation
        metadata: {name: "kept-${suffix}"}
        spec:
          clusterQueue: "kept-${suffix}"
          capacity: [{flavor: "f-${suffix}", resource: cpu, amount: 2}]
          users: {localQueues: [{namespace: "${namespace}", name: users}]}
          start: "%s"
          end: "%s"
        """
            .formatted(start, end));
  }

  private void submit(String job, String queue, int cpu, String priorityClass, int limit) {
    submit(job, queue, cpu, priorityClass, limit, "10m");
  }

  private void submit(
      String job, String queue, int cpu, String priorityClass, int limit, String runFor) {
    String priority =
        priorityClass.isEmpty()
            ? ""
            : "kueue.x-k8s.io/priority-class: \"" + cluster.name(priorityClass) + "\"";
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s, kueue.x-k8s.io/max-exec-time-seconds: "%d"%s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: %s}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: i, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(job, queue, limit, priority.isEmpty() ? "" : ", " + priority, runFor, cpu));
  }
}
