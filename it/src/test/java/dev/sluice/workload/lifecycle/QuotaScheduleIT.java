package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.JobExplanation;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Quota by time of day: a job that is too large starts when the factor of its queue changes, what
 * runs goes on when another queue gets less, and after a restart the same factors hold.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class QuotaScheduleIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm").withZone(ZoneOffset.UTC);

  private final OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set by the test
  private Api api;

  @Test
  void quotaFollowsTheTimeOfDay(TestCluster cluster) {
    api = new Api(cluster);
    MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
    String growing = cluster.name("growing");
    String shrinking = cluster.name("shrinking");
    try (LocalOperator operator = start(cluster, "operator-by-day")) {
      cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
      assertThatThrownBy(() -> createQueue(cluster, "refused", "Mon-Fri 08:00-18:00 half"))
          .hasMessageContaining("metadata.annotations[sluice.dev/quota-schedule]: Invalid value")
          .hasMessageContaining("Mon-Fri 08:00-18:00 half")
          .hasMessageContaining("must be rows with a factor from 0 to 100");
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: "f-${suffix}"}
          """);
      // long enough for all that has to be seen before, also on a busy machine
      Instant change = Instant.now().plusSeconds(120).truncatedTo(ChronoUnit.MINUTES);
      createQueue(cluster, "growing", schedule(change, "0.5", "2"));
      createQueue(cluster, "shrinking", schedule(change, "2", "0.5"));
      assertThatThrownBy(
              () ->
                  api.patch(
                      "ClusterQueue",
                      growing,
                      "{'metadata': {'annotations': {'sluice.dev/quota-schedule': 'Mon'}}}"))
          .hasMessageContaining("sluice.dev/quota-schedule");
      submit("waits", "growing", 4);
      submit("runs", "shrinking", 4);
      api.awaitRunning("runs", 1);
      awaitQuota(growing, "quota is at factor 0.5 until " + change);
      awaitQuota(shrinking, "quota is at factor 2 until " + change);
      awaitFactor(metrics, growing, 0.5);
      explanation(cluster)
          .await(
              "waits",
              "the quota of ClusterQueue %s is at factor 0.5 until %s".formatted(growing, change),
              "more than the maximum of 1");
      assertThat(Instant.now()).as("the factor changes after all this").isBefore(change);
      api.awaitRunning("waits", 1);
      assertThat(Instant.now()).isAfterOrEqualTo(change);
      awaitQuota(growing, "quota is at factor 2 until " + change.plus(30, ChronoUnit.MINUTES));
      awaitFactor(metrics, growing, 2);
      awaitFactor(metrics, shrinking, 0.5);
      await("event")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .events()
                              .v1()
                              .events()
                              .inNamespace("default")
                              .list()
                              .getItems())
                      .filteredOn(event -> event.getRegarding().getName().equals(growing))
                      .filteredOn(event -> event.getReason().equals("QuotaFactorChanged"))
                      .extracting(Event::getNote)
                      .containsExactly(
                          "quota is at factor 2 until %s; it was at factor 0.5"
                              .formatted(change.plus(30, ChronoUnit.MINUTES))));
      submit("comes", "shrinking", 1);
      explanation(cluster)
          .await("comes", "the quota of ClusterQueue %s is at factor 0.5".formatted(shrinking));
      assertThat(api.condition("Workload", api.workloadOf("runs"), "Evicted")).isEqualTo("absent");
      assertThat(operator.isHealthy()).isTrue();
    }
    try (LocalOperator operator = start(cluster, "operator-by-day-anew")) {
      awaitFactor(metrics, growing, 2);
      awaitFactor(metrics, shrinking, 0.5);
      assertThat(api.condition("Workload", api.workloadOf("runs"), "Evicted")).isEqualTo("absent");
      api.patch(
          "ClusterQueue",
          shrinking,
          "{'metadata': {'annotations': {'sluice.dev/quota-schedule': null}}}");
      api.delete("Job", "runs");
      api.awaitRunning("comes", 1);
      await("the condition is taken away")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(api.condition("ClusterQueue", shrinking, "QuotaScheduled"))
                      .isEqualTo("absent"));
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  /** Half an hour of one factor, then half an hour of another one. */
  private static String schedule(Instant change, String before, String after) {
    return "%s-%s %s; %s-%s %s"
        .formatted(
            TIME.format(change.minus(30, ChronoUnit.MINUTES)),
            TIME.format(change),
            before,
            TIME.format(change),
            TIME.format(change.plus(30, ChronoUnit.MINUTES)),
            after);
  }

  private void awaitQuota(String queue, String message) {
    await(queue + " " + message)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(api.get("ClusterQueue", queue).at("/status/conditions"))
                    .anyMatch(each -> each.path("message").asText().equals(message)));
  }

  private static void awaitFactor(MetricsEndpoint metrics, String queue, double factor) {
    await(queue + " at factor " + factor)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(metrics.get(metrics.token()).body())
                    .containsPattern(
                        "sluice_cluster_queue_quota_factor\\{[^}]*cluster_queue=\"%s\"[^}]*} %s"
                            .formatted(queue, factor)));
  }

  private LocalOperator start(TestCluster cluster, String name) {
    return LocalOperator.start(name, cluster.kubeconfig(), settings);
  }

  private void createQueue(TestCluster cluster, String name, String schedule) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%1$s-${suffix}", annotations: {sluice.dev/quota-schedule: "%2$s"}}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "f-${suffix}", resources: [{name: cpu, nominalQuota: "2"}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: "%1$s", namespace: "${namespace}"}
        spec: {clusterQueue: "%1$s-${suffix}"}
        """
            .formatted(name, schedule));
  }

  private void submit(String job, String queue, int cpu) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: i, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(job, queue, cpu));
  }

  private JobExplanation explanation(TestCluster cluster) {
    return new JobExplanation(cluster, settings.visibilityPort(), directory);
  }
}
