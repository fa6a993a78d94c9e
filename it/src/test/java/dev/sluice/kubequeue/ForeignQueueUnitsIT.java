package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * QueueUnits that an extension makes for jobs of its kind, on a real control plane. The test plays
 * the extension: its jobs are ConfigMaps.
 */
@OperatorTest(configuration = "kubeQueue: {enabled: true, sources: []}")
@Tag(BuildBreadth.NIGHTLY)
class ForeignQueueUnitsIT {

  private static final String UNIT = "scheduling.x-k8s.io/v1alpha1/QueueUnit";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    api.givenQueues(2);
  }

  private void submit(String name, String metadata, String spec) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: %1$s}
        ---
        apiVersion: scheduling.x-k8s.io/v1alpha1
        kind: QueueUnit
        metadata: {name: %1$s, labels: {kueue.x-k8s.io/queue-name: lq %2$s}}
        spec:
          consumerRef: {apiVersion: v1, kind: ConfigMap, name: %1$s}
          %3$s
        """
            .formatted(name, metadata, spec));
  }

  private void answer(String name, String phase) {
    cluster
        .client()
        .genericKubernetesResources("scheduling.x-k8s.io/v1alpha1", "QueueUnit")
        .inNamespace(cluster.namespace())
        .withName(name)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"status\":{\"phase\":\"%s\",\"message\":\"by the extension\"}}".formatted(phase));
  }

  private JsonNode awaitPhase(String name, String phase) {
    await(name + " " + phase)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(api.get(UNIT, name).at("/status/phase").asText())
                    .as(() -> api.get(UNIT, name).toPrettyString())
                    .isEqualTo(phase));
    return api.get(UNIT, name);
  }

  @Test
  void aUnitFromItsCreationToItsEnd() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata:
          name: "urgent-${suffix}"
          annotations: {sluice.dev/allowed-users: nobody}
        value: 2000000000
        """);
    submit("one", "", "request: {cpu: 2}");
    JsonNode dequeued = awaitPhase("one", "Dequeued");
    assertThat(dequeued.at("/status/attempts").asInt()).isEqualTo(1);
    assertThat(dequeued.at("/status/admissions/0/replicas").asInt()).isEqualTo(1);
    String workload = api.workloadOf(UNIT, "one");

    submit(
        "two",
        "",
        "podSet: [{name: w, count: 2, template: {spec: {containers: [{name: c, image: i,"
            + " resources: {requests: {cpu: 1}}}]}}}]");
    String waiting = api.workloadOf(UNIT, "two");
    api.awaitCondition(QueuedJobs.WORKLOAD, waiting, "QuotaReserved", "False");
    assertThat(api.get(UNIT, "two").at("/status/phase").asText()).isEmpty();

    // what may change while a unit waits
    api.patch(UNIT, "two", "{'spec': {'priority': 7, 'active': false}}");
    awaitWorkload(waiting, "7", false);
    api.patch(UNIT, "two", "{'spec': {'priority': 3, 'active': true}}");
    awaitWorkload(waiting, "3", true);
    // a priority that isn't for everybody
    api.patch(UNIT, "two", "{'spec': {'priority': 2000000000, 'active': false}}");
    awaitWorkload(waiting, "3", false);
    api.patch(UNIT, "two", "{'spec': {'priority': 3, 'active': true}}");
    awaitWorkload(waiting, "3", true);

    answer("one", "Running");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
    answer("one", "Succeed");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Finished", "True");
    awaitPhase("two", "Dequeued");
    assertThat(api.workloads()).hasSize(2);
  }

  private void awaitWorkload(String workload, String boost, boolean active) {
    await("priority and activity of " + workload)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode found = api.get(QueuedJobs.WORKLOAD, workload);
              assertThat(found.at("/metadata/annotations/kueue.x-k8s.io~1priority-boost").asText())
                  .isEqualTo(boost);
              assertThat(found.at("/spec/active").asBoolean()).isEqualTo(active);
            });
  }

  @Test
  void aUnitThatIsPreemptedStaysChargedUntilItAnswers() {
    submit("low", ", quota.scheduling.alibabacloud.com/preemptible: \"true\"", "request: {cpu: 1}");
    String low = api.workloadOf(UNIT, "low");
    awaitPhase("low", "Dequeued");
    answer("low", "Running");
    submit("firm", "", "request: {cpu: 1}");
    awaitPhase("firm", "Dequeued");
    answer("firm", "Running");

    submit("high", ", kueue.x-k8s.io/priority-class: \"high-${suffix}\"", "request: {cpu: 1}");
    String high = api.workloadOf(UNIT, "high");
    awaitPhase("low", "Preempted");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "Evicted", "True");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "QuotaReserved", "True");
    api.awaitCondition(QueuedJobs.WORKLOAD, high, "QuotaReserved", "False");

    answer("low", "Enqueued");
    awaitPhase("high", "Dequeued");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "QuotaReserved", "False");

    answer("high", "TimeoutBackoff");
    awaitPhase("low", "Dequeued");
    api.awaitCondition(QueuedJobs.WORKLOAD, high, "QuotaReserved", "False");
    answer("low", "Failed");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "Finished", "True");
    answer("high", "Enqueued");
    awaitPhase("high", "Dequeued");
    assertThat(api.get(UNIT, "firm").at("/status/phase").asText()).isEqualTo("Running");
    assertThat(api.workloads()).hasSize(3);
  }
}
