package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Jobs without a queue name, as people of Kube Queue submit them, on a real control plane. The
 * queues are written here with the marks of queues that were made from a quota.
 */
@OperatorTest(configuration = "kubeQueue: {enabled: true, sources: []}")
@Tag(BuildBreadth.NIGHTLY)
class IntakeIT {

  private static final String JOB = "batch/v1/Job";
  private static final String UNIT = "scheduling.x-k8s.io/v1alpha1/QueueUnit";
  private static final String LABEL = "/metadata/labels/kueue.x-k8s.io~1queue-name";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
  }

  private void givenQuotas(String... names) {
    QuotaFixture.givenQuotas(cluster, names);
  }

  private void givenLocalQueue(String quota) {
    QuotaFixture.givenLocalQueue(cluster, quota);
  }

  private void submit(String name, String metadata, boolean suspend, String runFor) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s %s}
        spec:
          suspend: %s
          template:
            metadata: {annotations: {sluice.dev/run-for: %s}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, metadata, suspend, runFor));
  }

  private String queueOf(String job) {
    return api.get(JOB, job).at(LABEL).asText();
  }

  private void awaitQueue(String job, String queue) {
    await("queue of " + job)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(queueOf(job)).isEqualTo(cluster.name(queue)));
  }

  @Test
  void aSuspendedJobWithoutQueueNameIsQueuedAndRuns() {
    api.givenQueues(0);
    submit("early", "", true, "1s");
    givenQuotas("video", "audio");
    givenLocalQueue("video");
    awaitQueue("early", "root-video");
    api.awaitCondition(JOB, "early", "Complete", "True");
    assertThat(api.get(JOB, "early").at("/spec/template/spec/nodeSelector/pool").asText())
        .isEqualTo("spot");

    await("unit of early")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(phase("early")).isEqualTo("Succeed"));

    submit("running", "", false, "1s");
    submit(
        "labelled",
        ", labels: {quota.scheduling.alibabacloud.com/name: \"audio" + suffix() + "\"}",
        true,
        "1s");
    awaitQueue("labelled", "root-audio");
    api.awaitCondition(JOB, "labelled", "Complete", "True");
    api.awaitCondition(JOB, "running", "Complete", "True");
    assertThat(queueOf("running")).isEmpty();
    assertThat(api.workloads()).hasSize(2);
  }

  @Test
  void aJobThatRanAndJobsOfNoQuotaAreLeftAlone() {
    api.givenQueues(0);
    givenQuotas("video");
    submit("ran", "", false, "10m");
    await("pod of ran").atMost(LIMIT).until(() -> api.pods().size() == 1);
    api.patch(JOB, "ran", "{'spec': {'suspend': true}}");
    submit("stranger", ", labels: {alibabacloud.com/quota-name: nobody}", true, "1s");
    givenLocalQueue("video");
    submit("own", "", true, "1s");
    api.awaitCondition(JOB, "own", "Complete", "True");
    assertThat(queueOf("ran")).isEmpty();
    assertThat(queueOf("stranger")).isEmpty();
    await("event")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .v1()
                            .events()
                            .inNamespace(cluster.namespace())
                            .list()
                            .getItems())
                    .anySatisfy(
                        event -> {
                          assertThat(event.getReason()).isEqualTo("QuotaNotAvailable");
                          assertThat(event.getMessage()).isEqualTo("there is no quota nobody");
                        }));
    assertThat(api.workloads()).hasSize(1);
  }

  /** The label comes before the namespace, and the annotation chooses among queues that list it. */
  @Test
  void aJobChoosesItsQueueByLabelAndAnnotation() {
    api.givenQueues(0);
    givenQuotas("video", "audio", "books");
    givenLocalQueue("video");
    String choice = ", annotations: {kube-queue/queue-name: root-audio" + suffix() + "}";
    submit("ignored", choice, true, "1s");
    awaitQueue("ignored", "root-video");

    QuotaFixture.list(cluster, "audio", "video", "books");
    submit("chosen", choice, true, "1s");
    awaitQueue("chosen", "root-audio");
    String label = ", labels: {alibabacloud.com/quota-name: \"books" + suffix() + "\"}";
    submit("labelled", label, true, "1s");
    awaitQueue("labelled", "root-books");
    submit("both", label + choice, true, "1s");
    awaitQueue("both", "root-audio");
    for (String job : List.of("ignored", "chosen", "labelled", "both")) {
      api.awaitCondition(JOB, job, "Complete", "True");
      assertThat(api.get(JOB, job).at("/metadata/annotations/sluice.dev~1assigned-queue").asText())
          .isEqualTo(queueOf(job));
    }
    assertThat(api.workloads()).hasSize(4);
  }

  private String phase(String unit) {
    return api.find(UNIT, unit).map(it -> it.at("/status/phase").asText()).orElse("absent");
  }

  private void awaitPhase(String unit, String phase) {
    await(unit + " " + phase)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(phase(unit)).isEqualTo(phase));
  }

  @Test
  void aUnitShowsTheWorkloadAndPeopleSteerByIt() {
    api.givenQueues(0);
    givenQuotas("video");
    givenLocalQueue("video");
    submit("first", "", true, "10m");
    submit("second", "", true, "10m");
    awaitPhase("first", "Running");
    awaitPhase("second", "Running");
    submit("third", "", true, "10m");
    awaitPhase("third", "Enqueued");
    await("message")
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(api.get(UNIT, "third").at("/status/message").asText()).isNotEmpty());

    api.patch(UNIT, "third", "{'spec': {'priority': 9, 'consumerRef': {'name': 'other'}}}");
    String third = api.workloadOf(JOB, "third");
    await("boost")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(
                      api.get(QueuedJobs.WORKLOAD, third)
                          .at("/metadata/annotations/kueue.x-k8s.io~1priority-boost")
                          .asText())
                  .isEqualTo("9");
              assertThat(api.get(UNIT, "third").at("/spec/consumerRef/name").asText())
                  .isEqualTo("third");
              assertThat(api.get(UNIT, "third").at("/spec/priority").asInt()).isEqualTo(9);
            });

    api.patch(UNIT, "first", "{'spec': {'active': false}}");
    awaitPhase("third", "Running");
    awaitPhase("first", "Enqueued");
    assertThat(api.get(JOB, "first").at("/spec/suspend").asBoolean()).isTrue();
    api.delete(UNIT, "second");
    awaitPhase("second", "Running");
    api.delete(JOB, "second");
    api.awaitGone(UNIT, "second");

    // a unit of somebody else keeps its name
    cluster.applyText(
        """
        apiVersion: scheduling.x-k8s.io/v1alpha1
        kind: QueueUnit
        metadata: {name: fourth}
        spec: {consumerRef: {apiVersion: batch/v1, kind: Job, name: other}, request: {cpu: 1}}
        """);
    submit("fourth", "", true, "10m");
    String fourth = api.workloadOf(JOB, "fourth");
    await("unit of fourth").atMost(LIMIT).until(() -> unitsOf(fourth).size() == 1);
    assertThat(unitsOf(fourth)).first().asString().matches("fourth-[0-9a-f]{5}");
    assertThat(api.get(UNIT, "fourth").at("/metadata/labels").has("sluice.dev/mirror")).isFalse();
    await("event")
        .atMost(LIMIT)
        .until(
            () ->
                cluster
                    .client()
                    .v1()
                    .events()
                    .inNamespace(cluster.namespace())
                    .list()
                    .getItems()
                    .stream()
                    .anyMatch(event -> "NameTaken".equals(event.getReason())));
  }

  private void submitTo(String quota, String name, String metadata, String pod) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %1$s
          labels: {alibabacloud.com/quota-name: "%2$s-${suffix}"}
        spec:
          suspend: true
          backoffLimit: 0
          template:
            metadata: {annotations: {sluice.dev/run-for: 1s %3$s}}
            spec:
              restartPolicy: Never
              %4$s
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, quota, metadata, pod));
  }

  /** Waits for a check, for a start that is late, and after one that took too long; and an end. */
  @Test
  void aUnitShowsChecksLateStartsAndFailure() {
    api.givenQueues(0);
    givenQuotas("plain", "late", "checked");
    QuotaFixture.annotate(
        cluster, "late", "'sluice.dev/start-timeout': '1s', 'sluice.dev/start-backoff': '24h'");
    QuotaFixture.requireCheck(cluster, "checked");
    String nowhere = "nodeSelector: {zone: nowhere}";
    submitTo("plain", "stuck", "", nowhere);
    submitTo("late", "slow", "", nowhere);
    submitTo("checked", "asked", "", "");
    submitTo("plain", "broken", ", sluice.dev/exit-code: \"3\"", "");
    awaitPhase("stuck", "Dequeued");
    awaitPhase("slow", "TimeoutBackoff");
    awaitPhase("asked", "Reserved");
    awaitPhase("broken", "Failed");
    assertThat(api.get(JOB, "slow").at("/spec/suspend").asBoolean()).isTrue();
    assertThat(api.get(UNIT, "asked").at("/status/admissionChecks/0/state").asText())
        .isEqualTo("Pending");
    assertThat(api.get(UNIT, "stuck").at("/status/admissions/0/resources/cpu").asText())
        .isEqualTo("1");
  }

  /** The names of the units that show a Workload. */
  private List<String> unitsOf(String workload) {
    return cluster
        .client()
        .genericKubernetesResources("scheduling.x-k8s.io/v1alpha1", "QueueUnit")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .filter(
            unit ->
                unit.getMetadata().getAnnotations() != null
                    && workload.equals(
                        unit.getMetadata().getAnnotations().get("sluice.dev/workload")))
        .map(unit -> unit.getMetadata().getName())
        .toList();
  }

  private String suffix() {
    return cluster.name("");
  }
}
