package dev.sluice.jobs.kinds.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What runs isn't disturbed when the operator goes and comes back; what passed meanwhile is held.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class PodsRestartIT {

  private static final String JOB = "batch/v1/Job";
  private static final String MUTATING = "kueue-mutating-webhook-configuration";
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String FRAMEWORKS = "integrations: {frameworks: [batch/job, pod]}";
  private static final String GROUP =
      "kueue.x-k8s.io/pod-group-name: sample, kueue.x-k8s.io/pod-group-total-count: '2', ";

  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom()).withShortLease().with(FRAMEWORKS);
  }

  @Test
  void whatRunsGoesOnAndWhatEndedMeanwhileIsSeen(TestCluster cluster) {
    PodApi api = new PodApi(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("spot"), 1).withLabel("pool", "spot"));
    try (OperatorProcess first =
        OperatorProcess.start(
                "operator-before-restart",
                cluster.kubeconfig(),
                settings(),
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      api.givenQueues(4);
      api.apply(pod("alone", "", "10m"));
      api.apply(pod("one", GROUP, "10m"));
      api.apply(pod("two", GROUP + "sluice.dev/exit-code: '1', ", "5s"));
      api.apply(pod("short", "", "5s"));
      for (String name : List.of("alone", "one", "two", "short")) {
        api.awaitField("Pod", name, "/status/phase", "Running");
      }
      first.kill();
    }
    api.awaitField("Pod", "short", "/status/phase", "Succeeded");
    String shortOne = api.workloadOf("short");
    api.awaitField("Pod", "two", "/status/phase", "Failed");
    List<String> before = List.of(uid(api, "alone"), uid(api, "one"));

    try (LocalOperator _ =
        LocalOperator.start("operator-after-restart", cluster.kubeconfig(), settings())) {
      api.awaitCondition("Workload", shortOne, "Finished", "True Succeeded");
      api.awaitField("Pod", "short", "/metadata/finalizers/0", "");
      api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "True PodsFailed");
      api.apply(pod("three", GROUP, "10m"));
      api.awaitField("Pod", "three", "/status/phase", "Running");
      assertThat(List.of(uid(api, "alone"), uid(api, "one"))).isEqualTo(before.subList(0, 2));
      for (String name : List.of("alone", "one")) {
        JsonNode pod = api.get("Pod", name);
        assertThat(PodApi.condition(pod, "TerminationTarget")).isEqualTo("absent");
        assertThat(pod.at("/metadata/deletionTimestamp").isMissingNode()).isTrue();
      }
      api.awaitUsage("3");
    }
  }

  private static void submit(TestCluster cluster, String name, String labels) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {%s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, labels));
  }

  /** Has the API server go on where no webhook answers. */
  private static void failOpen(TestCluster cluster) {
    var registrations = cluster.client().admissionRegistration().v1();
    registrations
        .mutatingWebhookConfigurations()
        .withName(MUTATING)
        .edit(
            all -> {
              all.getWebhooks().forEach(each -> each.setFailurePolicy("Ignore"));
              return all;
            });
    registrations
        .validatingWebhookConfigurations()
        .withName("kueue-validating-webhook-configuration")
        .edit(
            all -> {
              all.getWebhooks().forEach(each -> each.setFailurePolicy("Ignore"));
              return all;
            });
  }

  /** The Jobs among these that have pods of their own which run, by the pods' node selector. */
  private static Map<String, String> running(QueuedJobs api, List<String> jobs) {
    Map<String, String> running = new TreeMap<>();
    for (JsonNode pod : api.pods()) {
      String job = pod.at("/metadata/labels/batch.kubernetes.io~1job-name").asText();
      if (jobs.contains(job) && !pod.path("metadata").has("deletionTimestamp")) {
        running.merge(
            job, pod.at("/spec/nodeSelector/pool").asText(), (one, other) -> one + "+" + other);
      }
    }
    return running;
  }

  private static List<String> startsOf(TestCluster cluster, List<String> jobs) {
    return cluster.events().stream()
        .filter(event -> "Started".equals(event.getReason()))
        .filter(event -> jobs.contains(event.getRegarding().getName()))
        .map(event -> event.getRegarding().getName() + (event.getSeries() == null ? "" : " again"))
        .sorted()
        .toList();
  }

  /**
   * While no operator answers, what names a queue is refused, and what doesn't passes. If somebody
   * has the registrations fail open, Jobs pass that nobody suspends: when the operator is back they
   * are stopped, and started as far as there is quota.
   */
  @Test
  void jobsThatPassedWhileNoWebhookAnsweredAreHeldOrStartedOnce(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("spot"), 1).withLabel("pool", "spot"));
    String queued = "kueue.x-k8s.io/queue-name: lq";
    try (OperatorProcess first =
        OperatorProcess.start(
                "operator-before-slips",
                cluster.kubeconfig(),
                settings(),
                Path.of("target", "operators"),
                List.of())
            .awaitReady()) {
      api.givenQueues(2);
      submit(cluster, "doomed", queued);
      api.awaitUsage("1");
      first.kill();
    }
    assertThatThrownBy(() -> submit(cluster, "late", queued))
        .hasMessageContaining("failed calling webhook \"mjob.kb.io\"");
    assertThatThrownBy(
            () ->
                api.patch(
                    JOB, "doomed", "{'metadata': {'labels': {'kueue.x-k8s.io/queue-name': 'x'}}}"))
        .hasMessageContaining("failed calling webhook \"vjob.kb.io\"");
    submit(cluster, "free", "app: free");
    api.delete(JOB, "doomed");
    failOpen(cluster);
    List<String> slipped = List.of("slipped-0", "slipped-1", "slipped-2");
    slipped.forEach(name -> submit(cluster, name, queued));
    await("pods without quota")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(running(api, slipped)).hasSize(3));
    List<String> free = List.of("free");
    await("a pod of nobody's queue")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(running(api, free)).hasSize(1));

    try (LocalOperator _ =
        LocalOperator.start("operator-after-slips", cluster.kubeconfig(), settings())) {
      await("two of three have quota")
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                assertThat(running(api, slipped)).hasSize(2).containsValue("spot");
                assertThat(running(api, slipped).values()).containsOnly("spot");
                assertThat(api.workloads())
                    .hasSize(3)
                    .extracting(it -> it.at("/metadata/ownerReferences/0/name").asText())
                    .containsExactlyInAnyOrderElementsOf(slipped);
                assertThat(slipped)
                    .filteredOn(name -> api.get(JOB, name).at("/spec/suspend").asBoolean())
                    .hasSize(1);
              });
      api.awaitUsage("2");
      assertThat(
              cluster
                  .client()
                  .admissionRegistration()
                  .v1()
                  .mutatingWebhookConfigurations()
                  .withName(MUTATING)
                  .require()
                  .getWebhooks())
          .as("the operator has its registrations fail closed again")
          .anySatisfy(
              each -> {
                assertThat(each.getName()).isEqualTo("mjob.kb.io");
                assertThat(each.getFailurePolicy()).isEqualTo("Fail");
              });

      api.setQuota(3);
      await("all have quota")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(running(api, slipped))
                      .containsOnly(
                          Map.entry("slipped-0", "spot"),
                          Map.entry("slipped-1", "spot"),
                          Map.entry("slipped-2", "spot")));
      api.awaitUsage("3");
      await("each was started once")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(startsOf(cluster, slipped)).isEqualTo(slipped));
      assertThat(running(api, free)).isEqualTo(Map.of("free", ""));
      assertThat(api.find(JOB, "late")).isEmpty();
    }
  }

  private static String uid(PodApi api, String pod) {
    return api.get("Pod", pod).at("/metadata/uid").asText();
  }

  private static String pod(String name, String annotations, String runFor) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq}
      annotations: {%ssluice.dev/run-for: "%s"}
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: none, resources: {requests: {cpu: "1"}}}
    """
        .formatted(name, annotations, runFor);
  }
}
