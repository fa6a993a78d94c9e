package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Jobs whose nodes a played autoscaler makes when they have quota: by a ProvisioningRequest, by
 * placeholder pods, and in the next flavor where the first one's pool is at its limit. Judged by
 * the recorded watch events. Not thread-safe; runs once.
 */
final class AutoscalerScenario {

  static final String NAMESPACE = "default";

  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(5);

  private final WatchRecorder recorder;
  private final ProgressListener progressListener;
  private final ScenarioCluster cluster;
  private final ExpectationResults<Point> expectationResults;

  /** A scenario in a cluster with an operator, and an autoscaler with the pools of the demo. */
  AutoscalerScenario(
      KubernetesClient client, WatchRecorder recorder, ProgressListener progressListener) {
    this.recorder = recorder;
    this.progressListener = progressListener;
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
    this.expectationResults = new ExpectationResults<>(Point.class, progressListener);
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  List<ExpectationResult> tell() {
    return expectationResults.of(this::play);
  }

  private void play() {
    cluster.create(ScenarioManifests.text("autoscaler/01-definition.yaml"));
    cluster.create(ScenarioManifests.text("autoscaler/02-queues.yaml"));
    progressListener.say("a Job of two pods whose nodes a ProvisioningRequest asks for");
    judge(Point.REQUEST, "requested", "by-request", 2, "reserved");
    progressListener.say("a Job of one pod whose node a placeholder pod asks for");
    judge(Point.PLACEHOLDERS, "kept", "by-placeholders", 1, "spot");
    progressListener.say("a Job of two pods: the pool of spot nodes is at its limit of one");
    judge(Point.NEXT_FLAVOR, "refused", "by-placeholders", 2, "steady");
    cluster.await(
        "the end of all placeholders",
        () ->
            recorder.current(AuditedKind.POD).stream().noneMatch(AutoscalerScenario::isPlaceholder)
                ? Optional.of(true)
                : Optional.empty());
    if (!recorder.catchUp(STEP_TIMEOUT)) {
      throw new ScenarioException("the watches did not catch up");
    }
    long placeholders =
        recorder.history().stream()
            .filter(change -> change.kind() == AuditedKind.POD && isPlaceholder(change.object()))
            .map(change -> change.object().at("/metadata/uid").asText())
            .distinct()
            .count();
    String told = "there were " + placeholders;
    expectationResults.judge(
        Point.NOTHING_LEFT, placeholders > 0 ? Optional.empty() : Optional.of(told), told);
    AuditReport report = Auditor.audit(recorder.history());
    expectationResults.judge(
        Point.WITHIN_QUOTA,
        report.violations().stream().findFirst().map(Objects::toString),
        report.summary());
  }

  /** Submits a Job, and waits until all its pods run on nodes of a pool. */
  private void judge(Point point, String name, String queue, int pods, String pool) {
    cluster.submit(job(name, queue, pods));
    TreeSet<String> nodes =
        cluster.await(
            "the pods of Job " + name,
            () -> {
              List<JsonNode> running =
                  recorder.current(AuditedKind.POD).stream()
                      .filter(pod -> isOf(pod, name))
                      .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
                      .toList();
              TreeSet<String> found = new TreeSet<>();
              running.forEach(pod -> found.add(pod.at("/spec/nodeName").asText()));
              return running.size() == pods ? Optional.of(found) : Optional.empty();
            });
    boolean held = nodes.stream().allMatch(node -> node.startsWith(pool + "-"));
    String told = "runs on " + String.join(", ", nodes);
    expectationResults.judge(point, held ? Optional.empty() : Optional.of(told), told);
  }

  private static boolean isOf(JsonNode pod, String job) {
    return pod.at("/metadata/labels/batch.kubernetes.io~1job-name").asText().equals(job);
  }

  private static boolean isPlaceholder(JsonNode pod) {
    return pod.path("metadata").path("labels").has(NodeCapacityAnnotations.PLACEHOLDER);
  }

  private static String job(String name, String queue, int pods) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %1$s, namespace: default, labels: {kueue.x-k8s.io/queue-name: %2$s}}
    spec:
      parallelism: %3$d
      completions: %3$d
      template:
        metadata: {annotations: {sluice.dev/run-for: 30m}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
    """
        .formatted(name, queue, pods);
  }

  /** The expectations of the scenario of autoscalers, in order. */
  enum Point implements Expectation {
    /** By the API of the Cluster Autoscaler. */
    REQUEST("a ProvisioningRequest brings two nodes, and the Job's two pods run on them"),
    /** By pods alone. */
    PLACEHOLDERS("placeholder pods bring a node, and the Job's pod takes the place of one"),
    /** A refusal. */
    NEXT_FLAVOR("a pool at its limit gives no node, and the Job runs in the next flavor"),
    /** Nothing is left over. */
    NOTHING_LEFT("no placeholder is left"),
    /** Quota is kept. */
    WITHIN_QUOTA("no queue ever gives more than its quota");

    private final String text;

    Point(String text) {
      this.text = text;
    }

    @Override
    public int number() {
      return ordinal() + 1;
    }

    @Override
    public String text() {
      return text;
    }
  }
}
