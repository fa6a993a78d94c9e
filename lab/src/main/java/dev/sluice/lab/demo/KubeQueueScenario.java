package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.demo.PolicyFigures.Policy;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What people of Kube Queue know: a quota tree and Jobs without a queue name, at over-sell rates of
 * 1 and 2; then the three policies with the same 60 Jobs. Judged by the recorded watch events. Not
 * thread-safe; runs once.
 */
public final class KubeQueueScenario {

  static final String NAMESPACE = "default";

  /** Namespaces of the policies, which are the names of their queues. */
  private static final List<String> QUEUES = List.of("round", "block", "strict-priority");

  private static final List<String> POLICIES = List.of("Round", "Block", "StrictPriority");
  private static final int JOBS = 60;
  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(5);

  private final KubernetesClient client;
  private final WatchRecorder recorder;
  private final PolicyTrial trial;
  private final ProgressListener progressListener;
  private final Operators operators;
  private final ScenarioCluster cluster;
  private final ExpectationResults<Point> expectationResults;
  private Optional<PolicyFigures> figures = Optional.empty();

  /** Starts operators. */
  public interface Operators {

    /** Starts one with further fields of the configuration, which leads when this returns. */
    Running start(String configuration);

    /** An operator that runs until it is closed. */
    interface Running extends AutoCloseable {
      @Override
      void close();
    }
  }

  /**
   * Creates a scenario to run once, in a cluster without an operator.
   *
   * @param recorder is started once the first operator has installed the definitions; tells the
   *     trial what it sees
   */
  public KubeQueueScenario(
      KubernetesClient client,
      WatchRecorder recorder,
      PolicyTrial trial,
      ProgressListener progressListener,
      Operators operators) {
    this.client = client;
    this.recorder = recorder;
    this.trial = trial;
    this.progressListener = progressListener;
    this.operators = operators;
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
    this.expectationResults = new ExpectationResults<>(Point.class, progressListener);
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  public List<ExpectationResult> tell() {
    return expectationResults.of(this::play);
  }

  /** What the Jobs of the three policies waited, once all have run. */
  public Optional<PolicyFigures> figures() {
    return figures;
  }

  private void play() {
    progressListener.say("over-sell rate 1: the tree's root and its leaf may use 1 CPU");
    try (Operators.Running plain = start(1)) {
      var unused = recorder.start();
      cluster.create(ScenarioManifests.text("elastic-quota-tree/01-tree.yaml"));
      judgeRate(1, Point.PLAIN);
    }
    progressListener.say("over-sell rate 2: the same tree, an operator with another configuration");
    try (Operators.Running oversold = start(2)) {
      judgeRate(2, Point.OVERSOLD);
      progressListener.say("three queues of 8 CPUs, a policy each, and 60 Jobs for each of them");
      cluster.create(ScenarioManifests.text("queueing-policies/01-queues.yaml"));
      submitAll();
      cluster.await(
          "the end of all Jobs",
          () ->
              QUEUES.stream().allMatch(queue -> trial.finished(queue) == JOBS)
                  ? Optional.of(true)
                  : Optional.empty());
      judgePolicies();
    }
  }

  private Operators.Running start(int rate) {
    progressListener.waits("an operator with over-sell rate %d".formatted(rate));
    Operators.Running operator =
        operators.start("kubeQueue: {enabled: true, oversellRate: %d}%n".formatted(rate));
    progressListener.waits("");
    return operator;
  }

  /** One Job more than may run; as many as may run do so, and the last one says what it lacks. */
  private void judgeRate(int rate, Point point) {
    for (int i = 0; i <= rate; i++) {
      cluster.create(ScenarioManifests.text("elastic-quota-tree/02-job.yaml"));
    }
    String told =
        cluster.await(
            "%d running Jobs, and one that waits".formatted(rate),
            () ->
                running() == rate
                    ? own(AuditedKind.WORKLOAD).stream()
                        .filter(each -> condition(each, "QuotaReserved").startsWith("False"))
                        .map(each -> condition(each, "QuotaReserved"))
                        .findFirst()
                    : Optional.empty());
    expectationResults.judge(
        point,
        Optional.empty(),
        "%d of %d Jobs run; the other: %s"
            .formatted(rate, rate + 1, told.replaceFirst("^False ", "")));
    client
        .batch()
        .v1()
        .jobs()
        .inNamespace(NAMESPACE)
        .withPropagationPolicy(DeletionPropagation.FOREGROUND)
        .delete();
    cluster.await(
        "the end of these Jobs",
        () ->
            own(AuditedKind.WORKLOAD).isEmpty() && own(AuditedKind.POD).isEmpty()
                ? Optional.of(true)
                : Optional.empty());
  }

  private long running() {
    return own(AuditedKind.JOB).stream()
        .filter(each -> !each.at("/spec/suspend").asBoolean())
        .filter(each -> each.at("/status/active").asInt() == 1)
        .count();
  }

  private List<JsonNode> own(AuditedKind kind) {
    return recorder.current(kind).stream()
        .filter(each -> each.at("/metadata/namespace").asText().equals(NAMESPACE))
        .toList();
  }

  private static String condition(JsonNode workload, String type) {
    for (JsonNode condition : workload.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("message").asText();
      }
    }
    return "";
  }

  /** All queues get the same Jobs at the same time, one after the other. */
  private void submitAll() {
    for (int i = 0; i < JOBS; i++) {
      for (String queue : QUEUES) {
        cluster.create(job(i, queue));
      }
      var unused = recorder.await(PAUSE, Optional::empty);
    }
  }

  /** Four of 8 CPUs, ten of 4, the others of one; every seventh is urgent. */
  private static String job(int number, String namespace) {
    int cpus = number % 15 == 5 ? PolicyFigures.BIG : number % 6 == 3 ? 4 : 1;
    String priority = number % 7 == 0 ? ", kueue.x-k8s.io/priority-class: urgent" : "";
    return """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: job-%02d
      namespace: %s
      labels: {kueue.x-k8s.io/queue-name: main%s}
    spec:
      template:
        metadata: {annotations: {sluice.dev/run-for: 3s}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
    """
        .formatted(number, namespace, priority, cpus);
  }

  private void judgePolicies() {
    if (!recorder.catchUp(STEP_TIMEOUT)) {
      throw new ScenarioException("the watches did not catch up");
    }
    PolicyFigures found =
        new PolicyFigures(
            List.of(0, 1, 2).stream()
                .map(i -> new Policy(POLICIES.get(i), trial.served(QUEUES.get(i))))
                .toList());
    figures = Optional.of(found);
    expectationResults.judge(Point.ALL_RUN, recorder.gap(), "%d Jobs each".formatted(JOBS));
    AuditReport report =
        Auditor.audit(recorder.history().stream().filter(this::isOfTrial).toList());
    expectationResults.judge(
        Point.WITHIN_QUOTA,
        report.violations().stream().findFirst().map(Objects::toString),
        report.summary());
    Policy round = found.policies().get(0);
    Policy block = found.policies().get(1);
    judge(
        Point.STARVES,
        round.mean(PolicyFigures::isBig) > block.mean(PolicyFigures::isBig),
        found.words().getFirst());
    judge(
        Point.IN_ORDER,
        block.passed() == 0,
        "passed with Block %d times, with Round %d".formatted(block.passed(), round.passed()));
    double urgent = block.mean(each -> each.priority() > 0);
    double others = block.mean(each -> each.priority() == 0);
    judge(Point.PRIORITY, urgent < others, "%.1f s, others %.1f s".formatted(urgent, others));
  }

  private boolean isOfTrial(ObjectChange change) {
    String place =
        change.kind() == AuditedKind.CLUSTER_QUEUE ? "/metadata/name" : "/metadata/namespace";
    return QUEUES.contains(change.object().at(place).asText());
  }

  private void judge(Point point, boolean held, String detail) {
    expectationResults.judge(point, held ? Optional.empty() : Optional.of(detail), detail);
  }

  /** The expectations of the scenario of Kube Queue, in order. */
  public enum Point implements Expectation {
    /** The limits as they are. */
    PLAIN("a tree makes its queues; at an over-sell rate of 1 its limit of 1 CPU lets one Job run"),
    /** The limits twice. */
    OVERSOLD("at a rate of 2 the same limit lets two Jobs run, and a third waits"),
    /** Nothing is lost. */
    ALL_RUN("the same 60 Jobs come to three queues, and all of them run"),
    /** Quota is kept. */
    WITHIN_QUOTA("no queue ever gives more than its 8 CPUs"),
    /** The difference. */
    STARVES("big Jobs wait longer with Round than with Block"),
    /** The order. */
    IN_ORDER("with Block no Job is passed by one behind it in the queue"),
    /** What priorities are for. */
    PRIORITY("with Block urgent Jobs wait less than others");

    private final String text;

    Point(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }
}
