package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.demo.PolicyTrial.TrialJob;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.visibility.explain.ExplainCommand;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/**
 * A large Job among small ones in three queues: one starves it, one lets CPUs stay idle for it, and
 * one promises it a start. Beside them a Job that runs long enough before it is preempted, and a
 * rack that is emptied. Judged by the recorded watch events. Not thread-safe; runs once.
 */
public final class PromisesScenario {

  /** The namespace whose events are shown. */
  static final String BACK_FILL = "back-fill";

  private static final String BEST_EFFORT = "best-effort";
  private static final String STRICT = "strict";
  private static final String PROTECTED = "protected";
  private static final String RACKS = "racks";
  private static final String RACK = "sluice.dev/rack";
  private static final String STAYS = "stays";
  private static final String AVOIDS = "avoids";

  /** The queues that are compared. */
  private static final List<String> QUEUES = List.of(BEST_EFFORT, STRICT, BACK_FILL);

  private static final String LARGE = "large";
  private static final int CPUS = 4;
  private static final int SMALL_JOBS = 34;
  private static final Duration MIN_RUN_TIME = Duration.ofSeconds(20);

  /** How long before a maintenance Jobs come that would be in its way. */
  private static final Duration NOTICE = Duration.ofSeconds(30);

  /** How late an eviction may be, which has a second, and times without fractions. */
  private static final Duration ON_TIME = Duration.ofSeconds(3);

  /** Workloads of one second have no order that anybody would expect. */
  private static final Duration LATER = Duration.ofMillis(1500);

  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(5);
  private static final Pattern PROMISE =
      Pattern.compile("planned to start by (\\S+) at the latest");

  private final WatchRecorder recorder;
  private final PolicyTrial trial;
  private final ProgressListener progressListener;
  private final UnaryOperator<String> explanation;
  private final InstantSource clock;
  private final ScenarioCluster cluster;
  private final ExpectationResults<PromisesExpectation> expectationResults;
  private List<Outcome> outcomes = List.of();

  /** The expectations, in order. */
  public enum PromisesExpectation implements Expectation {
    /** Who fits goes first. */
    STARVES("BestEffortFIFO: a large Job starves until no more small ones come"),
    /** Nobody goes first. */
    IDLE("StrictFIFO: nobody passes it, and CPUs stay idle while it waits"),
    /** The promise. */
    PROMISED("back-fill: it is promised a start, and starts by then"),
    /** What the promise costs. */
    FILLED("back-fill: small ones run before it, and fewer CPUs stay idle"),
    /** Another promise. */
    MIN_RUN_TIME("no Job is preempted before its sluice.dev/min-run-time is over"),
    /** A promise to whoever repairs it. */
    MAINTENANCE("a rack is empty when its maintenance begins, and what runs on goes elsewhere"),
    /** Quota is kept. */
    WITHIN_QUOTA("no queue ever gives more than its quota");

    private final String text;

    PromisesExpectation(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }

  /**
   * What became of the Jobs of a queue.
   *
   * @param waited how long the large Job waited for quota
   * @param before how many small ones got quota before it
   * @param use the part of the CPUs that had quota until the last Job was submitted
   */
  private record Outcome(String queue, Instant start, Duration waited, long before, double use) {

    String row() {
      return String.format(
          Locale.ROOT,
          "%-16s %10.1f s %22d %14.0f %%",
          queue,
          waited.toMillis() / 1000.0,
          before,
          use * 100);
    }
  }

  /**
   * Creates a scenario to run once, in a cluster with an operator.
   *
   * @param recorder tells the trial what it sees
   * @param explanation what the operator says about the Job of this name in namespace {@code
   *     back-fill}
   */
  public PromisesScenario(
      KubernetesClient client,
      WatchRecorder recorder,
      PolicyTrial trial,
      ProgressListener progressListener,
      UnaryOperator<String> explanation) {
    this.recorder = recorder;
    this.trial = trial;
    this.progressListener = progressListener;
    this.explanation = explanation;
    this.clock = InstantSource.system();
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
    this.expectationResults = new ExpectationResults<>(PromisesExpectation.class, progressListener);
  }

  /**
   * Asks an operator on this machine as {@code sluice explain job NAME --operator URL} does.
   *
   * @param directory where the authority of the operator's certificate is kept
   */
  public static UnaryOperator<String> explanation(
      KubernetesClient client, Path kubeconfig, int visibilityPort, Path directory) {
    return job -> {
      StringWriter out = new StringWriter();
      new CommandLine(new ExplainCommand())
          .setOut(new PrintWriter(out))
          .setErr(new PrintWriter(out))
          .execute(
              "job",
              job,
              "-n",
              BACK_FILL,
              "--kubeconfig",
              kubeconfig.toString(),
              "--operator",
              "https://127.0.0.1:" + visibilityPort,
              "--operator-ca",
              authority(client, directory).toString());
      return out.toString();
    };
  }

  private static Path authority(KubernetesClient client, Path directory) {
    try {
      return Files.writeString(
          directory.resolve("operator-ca.crt"), OperatorAccount.certificateAuthority(client));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The nodes that the scenario needs: two racks of two. */
  public static List<NodeGroup> nodes() {
    return List.of(
        NodeGroup.plentiful("r1", 2).withLabel(RACK, "r1"),
        NodeGroup.plentiful("r2", 2).withLabel(RACK, "r2"));
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  public List<ExpectationResult> tell() {
    return expectationResults.of(this::play);
  }

  /** A table of the three queues; empty before all their Jobs have got quota. */
  public List<String> table() {
    List<String> lines = new ArrayList<>();
    if (!outcomes.isEmpty()) {
      lines.add(
          "%-16s %12s %22s %16s"
              .formatted("queue", LARGE + " waited", "small ones before it", "CPUs in use"));
      outcomes.forEach(each -> lines.add(each.row()));
    }
    return lines;
  }

  private void play() {
    cluster.create(ScenarioManifests.text("promises/01-queues.yaml"));
    progressListener.say("a Job that runs 20 s undisturbed, and an urgent one that wants its CPUs");
    cluster.submit(job("patient", PROTECTED, CPUS, 600, 600));
    cluster.create(job(STAYS, RACKS, 2, 600, 600));
    progressListener.say("three queues of 4 CPUs: a Job of 2, then one of 4, then one of 1 each s");
    for (String queue : QUEUES) {
      cluster.create(job("first", queue, 2, 20, 35));
    }
    pause(LATER);
    cluster.create(urgent());
    for (String queue : QUEUES) {
      cluster.create(job(LARGE, queue, CPUS, 6, 20));
    }
    Instant promised = promised();
    Instant maintenance = maintain();
    pause(LATER);
    progressListener.say(
        "Jobs of 1 CPU come; %s is promised a start by %s".formatted(LARGE, promised));
    for (int i = 0; i < SMALL_JOBS; i++) {
      for (String queue : QUEUES) {
        cluster.create(job("small-%02d".formatted(i), queue, 1, 4, 12));
      }
      pause(PAUSE);
    }
    Instant last = clock.instant();
    progressListener.say("no more Jobs come");
    cluster.await(
        "the start of the large Jobs",
        () ->
            QUEUES.stream().allMatch(queue -> large(queue).isPresent())
                ? Optional.of(true)
                : Optional.empty());
    outcomes = QUEUES.stream().map(queue -> outcome(queue, last)).toList();
    judge(last, promised);
    judgeMinRunTime();
    judgeMaintenance(maintenance);
    if (!recorder.catchUp(STEP_TIMEOUT)) {
      throw new ScenarioException("the watches did not catch up");
    }
    AuditReport report = Auditor.audit(recorder.history());
    expectationResults.judge(
        PromisesExpectation.WITHIN_QUOTA,
        report.violations().stream().findFirst().map(Objects::toString),
        report.summary());
  }

  private void pause(Duration time) {
    var unused = recorder.await(time, Optional::empty);
  }

  private Instant promised() {
    return cluster.await(
        "the promise",
        () -> {
          Matcher matcher = PROMISE.matcher(explanation.apply(LARGE));
          return matcher.find() ? Optional.of(Instant.parse(matcher.group(1))) : Optional.empty();
        });
  }

  private Optional<TrialJob> large(String queue) {
    return trial.served(queue).stream().filter(each -> each.cpus() == CPUS).findFirst();
  }

  private Outcome outcome(String queue, Instant last) {
    TrialJob large = large(queue).orElseThrow();
    Instant start = large.reserved().orElseThrow();
    List<TrialJob> jobs = trial.served(queue);
    return new Outcome(
        queue,
        start,
        Duration.between(large.created(), start),
        jobs.stream()
            .filter(each -> each.cpus() == 1 && each.reserved().orElseThrow().isBefore(start))
            .count(),
        use(jobs, last));
  }

  /** The part of the CPUs that had quota from the first Job until a time. */
  private static double use(List<TrialJob> jobs, Instant until) {
    Instant from =
        jobs.stream().map(TrialJob::created).min(Comparator.naturalOrder()).orElse(until);
    double used =
        jobs.stream()
            .mapToDouble(
                each ->
                    each.cpus()
                        * (double)
                            Duration.between(
                                    earlier(each.reserved().orElse(until), until),
                                    earlier(each.finished().orElse(until), until))
                                .toMillis())
            .sum();
    return used / (CPUS * (double) Duration.between(from, until).toMillis());
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }

  private void judge(Instant last, Instant promised) {
    Outcome bestEffort = outcomes.get(0);
    Outcome strict = outcomes.get(1);
    Outcome backFill = outcomes.get(2);
    judge(PromisesExpectation.STARVES, bestEffort.start().isAfter(last), words(bestEffort));
    judge(
        PromisesExpectation.IDLE,
        strict.before() == 0 && strict.use() < bestEffort.use(),
        words(strict));
    judge(
        PromisesExpectation.PROMISED,
        !backFill.start().isAfter(promised),
        "waited %d s, promised were %d s at most"
            .formatted(
                backFill.waited().toSeconds(),
                backFill.waited().plus(Duration.between(backFill.start(), promised)).toSeconds()));
    judge(
        PromisesExpectation.FILLED,
        backFill.before() > 0 && backFill.use() > strict.use(),
        words(backFill));
  }

  private static String words(Outcome outcome) {
    return "waited %d s, %d small ones before it, %d %% in use"
        .formatted(outcome.waited().toSeconds(), outcome.before(), Math.round(outcome.use() * 100));
  }

  private void judge(PromisesExpectation expectation, boolean held, String detail) {
    expectationResults.judge(expectation, held ? Optional.empty() : Optional.of(detail), detail);
  }

  private void judgeMinRunTime() {
    Duration ran = cluster.await("the preemption of the patient Job", this::undisturbed);
    judge(
        PromisesExpectation.MIN_RUN_TIME,
        ran.compareTo(MIN_RUN_TIME) >= 0,
        "it ran for %d s".formatted(ran.toSeconds()));
  }

  /**
   * Announces a maintenance of the rack on which a Job runs, and submits another Job; returns when
   * it begins.
   */
  private Instant maintain() {
    cluster.await("a Job on rack r1", () -> nodes(STAYS).stream().findFirst());
    Instant start = clock.instant().truncatedTo(ChronoUnit.SECONDS).plus(NOTICE);
    progressListener.say("rack r1 is under maintenance from %s on".formatted(start));
    cluster.create(
        ScenarioManifests.text("promises/02-maintenance.yaml")
            .formatted(start, start.plus(Duration.ofHours(1))));
    cluster.create(job(AVOIDS, RACKS, 2, 600, 600));
    return start;
  }

  private void judgeMaintenance(Instant start) {
    Instant evicted =
        cluster.await(
            "the eviction of a Job from rack r1",
            () ->
                workloads(STAYS).stream()
                    .flatMap(each -> since(each, "Evicted").stream())
                    .findFirst());
    List<String> stays =
        cluster.await(
            "its new place", () -> Optional.of(nodes(STAYS)).filter(each -> each.size() > 1));
    List<String> avoids = nodes(AVOIDS);
    judge(
        PromisesExpectation.MAINTENANCE,
        stays.getFirst().startsWith("r1")
            && stays.getLast().startsWith("r2")
            && !avoids.isEmpty()
            && avoids.stream().allMatch(node -> node.startsWith("r2"))
            && !evicted.isBefore(start)
            && !evicted.isAfter(start.plus(ON_TIME)),
        "evicted %d s after the begin, from %s to %s; the other Job ran on %s"
            .formatted(
                Duration.between(start, evicted).toSeconds(),
                stays.getFirst(),
                stays.getLast(),
                String.join(", ", avoids)));
  }

  /** All versions of the Workload of a Job in the queue with racks, in order. */
  private List<JsonNode> workloads(String job) {
    return recorder.history().stream()
        .filter(change -> change.kind() == AuditedKind.WORKLOAD)
        .map(ObjectChange::object)
        .filter(workload -> workload.at("/metadata/namespace").asText().equals(RACKS))
        .filter(workload -> workload.at("/metadata/ownerReferences/0/name").asText().equals(job))
        .toList();
  }

  /** The nodes that a Job got, one after the other. */
  private List<String> nodes(String job) {
    return workloads(job).stream()
        .map(workload -> workload.at("/status/admission/podSetAssignments/0/topologyAssignment"))
        .filter(JsonNode::isObject)
        .flatMap(places -> TopologyAssignmentCodec.decode(places).domains().stream())
        .map(domain -> domain.values().getLast())
        .distinct()
        .toList();
  }

  /** From the admission of the Job that is preempted until its eviction, to the second. */
  private Optional<Duration> undisturbed() {
    Optional<Instant> admitted = Optional.empty();
    for (ObjectChange change : recorder.history()) {
      JsonNode workload = change.object();
      if (change.kind() == AuditedKind.WORKLOAD
          && workload.at("/metadata/namespace").asText().equals(PROTECTED)
          && workload.at("/spec/priority").asInt() == 0) {
        admitted = admitted.or(() -> since(workload, "Admitted"));
        Optional<Instant> evicted = since(workload, "Evicted");
        if (admitted.isPresent() && evicted.isPresent()) {
          return Optional.of(Duration.between(admitted.get(), evicted.get()));
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<Instant> since(JsonNode workload, String type) {
    for (JsonNode condition : workload.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)
          && condition.path("status").asText().equals("True")) {
        return Optional.of(Instant.parse(condition.path("lastTransitionTime").asText()));
      }
    }
    return Optional.empty();
  }

  private static String urgent() {
    return job("urgent", PROTECTED, CPUS, 5, 60)
        .replace("queue-name: main", "queue-name: main, kueue.x-k8s.io/priority-class: urgent");
  }

  /** A Job that runs for so many seconds, and may run for some more. */
  private static String job(String name, String namespace, int cpus, int seconds, int limit) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: %s
      namespace: %s
      labels: {kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/max-exec-time-seconds: "%d"}
    spec:
      template:
        metadata: {annotations: {sluice.dev/run-for: %ds}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
    """
        .formatted(name, namespace, limit, seconds, cpus);
  }
}
