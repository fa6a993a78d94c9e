package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.app.Main;
import dev.sluice.kube.certificates.TlsContexts;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.process.OperatorAccount;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Two teams of which one has more work than quota: its Jobs are told when they start, and start
 * then; one of the other team outlives what its owner declared. Afterwards the day is compared with
 * another one, and replayed. Judged by the recorded watch events and by what the operator answers.
 * Not thread-safe; runs once.
 */
final class TimeScenario {

  static final String NAMESPACE = "default";

  /** The file with the page of the comparison. */
  static final String PAGE = "what-if.html";

  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(5);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

  /** Four hours of the played day. */
  private static final Duration RUN = Duration.ofSeconds(20);

  /** Ten hours, of a Job whose owner declares four. */
  private static final Duration LONG_RUN = Duration.ofSeconds(50);

  /**
   * From the end of a run to the start of the next pod on the played nodes, and whole seconds in
   * the API: so far may a start be from its range and still count as told.
   */
  private static final Duration SLACK = Duration.ofSeconds(5);

  /** The points of the story, in order. */
  enum Point implements Expectation {
    TOLD("each Job that waits for declared run times is told when it starts"),
    DRY_RUN("a dry run says that a Job would start later, and creates nothing"),
    KEPT("the Jobs start when they were told"),
    MOVED("a run outlives what was declared: who waits for it is told a later time"),
    WHAT_IF("what if the teams lent each other quota: the first one would wait less"),
    REPLAYED("the journal of the day is replayed with equal decisions"),
    FOUND("a decision that is changed is found");

    private final String text;

    Point(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }

  /** When a Job is said to start. */
  private record Told(Instant earliest, Instant expected, Instant latest, String basis) {}

  private final KubernetesClient client;
  private final ProgressListener progressListener;
  private final ScenarioCluster cluster;
  private final ExpectationResults<Point> results;
  private final URI operator;
  private final Path files;

  /**
   * A scenario in a cluster with an operator that writes a journal.
   *
   * @param visibilityPort where the operator answers on this machine
   * @param files a directory with the journal, for what is left over
   */
  TimeScenario(
      KubernetesClient client,
      WatchRecorder recorder,
      ProgressListener progressListener,
      int visibilityPort,
      Path files) {
    this.client = client;
    this.progressListener = progressListener;
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
    this.results = new ExpectationResults<>(Point.class, progressListener);
    this.operator = URI.create("https://127.0.0.1:" + visibilityPort);
    this.files = files;
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  List<ExpectationResult> tell() {
    return results.of(this::play);
  }

  private void play() {
    cluster.create(ScenarioManifests.text("time/01-teams.yaml"));
    String token = OperatorAccount.token(client, "visitor");
    try (HttpClient http = trusting(OperatorAccount.certificateAuthority(client))) {
      play(http, token);
    }
    compare();
    replay();
  }

  private void play(HttpClient http, String token) {
    progressListener.say("blue submits six Jobs of four hours to quota for two");
    List<ScenarioJob> jobs = new ArrayList<>();
    for (int i = 1; i <= 6; i++) {
      ScenarioJob job = cluster.submit(job("blue-" + i, "blue", 1, RUN));
      jobs.add(job);
      if (i <= 2) {
        job.awaitStart();
      }
    }
    progressListener.say("green submits one that runs ten hours and declares four, and another");
    cluster.submit(job("green-1", "green", 1, LONG_RUN)).awaitStart();
    ScenarioJob waitingJob = cluster.submit(job("green-2", "green", 3, RUN));
    Map<String, Told> told = new TreeMap<>();
    for (ScenarioJob waiting : jobs.subList(2, jobs.size())) {
      told.put(waiting.name(), awaitTold(http, token, waiting));
    }
    Told first = awaitTold(http, token, waitingJob);
    Told some = Objects.requireNonNull(told.get("blue-6"));
    results.judge(
        Point.TOLD,
        told.values().stream().allMatch(each -> each.basis().equals("Declared"))
            ? Optional.empty()
            : Optional.of("by other run times than declared ones: " + told),
        "blue-6 at about %s, by declared run times".formatted(time(some.expected())));
    dryRun(token);
    judgeStarts(jobs, told);
    judgeMoved(http, token, waitingJob, first);
    jobs.forEach(ScenarioJob::awaitCompletion);
    waitingJob.awaitStart();
  }

  private Told awaitTold(HttpClient http, String token, ScenarioJob job) {
    return cluster.await(
        "an estimate for Job " + job.name(),
        () -> job.workload().flatMap(workload -> ask(http, token, workload)));
  }

  /** What the operator says of a Workload that waits; empty if it says no range. */
  private Optional<Told> ask(HttpClient http, String token, JsonNode workload) {
    HttpRequest request =
        HttpRequest.newBuilder(
                operator.resolve(
                    "/explain/v1/namespaces/%s/workloads/%s"
                        .formatted(NAMESPACE, workload.at("/metadata/name").asText())))
            .header("Authorization", "Bearer " + token)
            .timeout(REQUEST_TIMEOUT)
            .build();
    JsonNode start = send(http, request).path("expectedStart");
    return start.hasNonNull("earliest") && start.hasNonNull("latest")
        ? Optional.of(
            new Told(
                seconds(start.path("earliest")),
                seconds(start.path("expected")),
                seconds(start.path("latest")),
                start.path("basis").asText()))
        : Optional.empty();
  }

  private static LocalTime time(Instant instant) {
    return LocalTime.ofInstant(instant, ZoneOffset.UTC);
  }

  private static Instant seconds(JsonNode time) {
    return Instant.parse(time.asText()).truncatedTo(ChronoUnit.SECONDS);
  }

  /** What a server answers, as JSON. */
  static JsonNode send(HttpClient http, HttpRequest request) {
    try {
      return JsonMappers.JSON.readTree(
          http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    } catch (IOException e) {
      throw new ScenarioException("the operator could not be asked: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ScenarioException("interrupted");
    }
  }

  /** As {@code kubectl create --dry-run=server} does: the answer is in the warnings. */
  private void dryRun(String token) {
    progressListener.say("kubectl create --dry-run=server -f a Job of blue's");
    URI jobs =
        URI.create(client.getMasterUrl().toString())
            .resolve("/apis/batch/v1/namespaces/" + NAMESPACE + "/jobs?dryRun=All");
    HttpRequest request =
        HttpRequest.newBuilder(jobs)
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/yaml")
            .timeout(REQUEST_TIMEOUT)
            .POST(HttpRequest.BodyPublishers.ofString(job("asked-only", "blue", 1, RUN)))
            .build();
    try (HttpClient apiServer = trusting(ofKubeconfig())) {
      HttpResponse<String> response = apiServer.send(request, HttpResponse.BodyHandlers.ofString());
      String warnings = String.join(" ", response.headers().allValues("Warning"));
      boolean exists =
          client.batch().v1().jobs().inNamespace(NAMESPACE).withName("asked-only").get() != null;
      boolean held = response.statusCode() == 201 && warnings.contains("Later") && !exists;
      results.judge(
          Point.DRY_RUN,
          held
              ? Optional.empty()
              : Optional.of(
                  "status %d, warnings: %s%s"
                      .formatted(response.statusCode(), warnings, exists ? ", created" : "")),
          warnings.replaceFirst("^299 - \"", "").replaceFirst("\".*", ""));
    } catch (IOException e) {
      throw new ScenarioException("the API server could not be asked: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ScenarioException("interrupted");
    }
  }

  private void judgeStarts(List<ScenarioJob> jobs, Map<String, Told> told) {
    progressListener.say("what was told is compared with what happens");
    List<String> outside = new ArrayList<>();
    for (ScenarioJob job : jobs) {
      Told range = told.get(job.name());
      if (range != null) {
        Instant start = started(job);
        if (start.isBefore(range.earliest().minus(SLACK))
            || start.isAfter(range.latest().plus(SLACK))) {
          outside.add("%s at %s, told %s".formatted(job.name(), start, range));
        }
      }
    }
    results.judge(
        Point.KEPT,
        outside.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", outside)),
        "%d of %d within the time that they were told".formatted(told.size(), told.size()));
  }

  /** When quota was reserved for a Job, once it has started. */
  private Instant started(ScenarioJob job) {
    job.awaitStart();
    return cluster.await(
        "the reservation of Job " + job.name(),
        () ->
            job.workload()
                .flatMap(
                    workload -> {
                      for (JsonNode condition : workload.at("/status/conditions")) {
                        if (condition.path("type").asText().equals("QuotaReserved")
                            && condition.path("status").asText().equals("True")) {
                          return Optional.of(
                              Instant.parse(condition.path("lastTransitionTime").asText()));
                        }
                      }
                      return Optional.empty();
                    }));
  }

  private void judgeMoved(HttpClient http, String token, ScenarioJob waitingJob, Told first) {
    progressListener.say("green-1 runs longer than its owner said");
    Told later =
        cluster.await(
            "a later time for Job " + waitingJob.name(),
            () ->
                waitingJob
                    .workload()
                    .flatMap(workload -> ask(http, token, workload))
                    .filter(told -> told.expected().isAfter(first.latest())));
    results.judge(
        Point.MOVED,
        Optional.empty(),
        "green-2 is told %s at first, and %s later"
            .formatted(time(first.expected()), time(later.expected())));
  }

  private void compare() {
    progressListener.say("sluice what-if -f lending.yaml --journal …");
    Path changed = files.resolve("lending.yaml");
    Path page = files.resolve(PAGE);
    try {
      Files.writeString(changed, ScenarioManifests.text("time/02-lending.yaml"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Ran ran =
        sluice(
            "what-if",
            "-f",
            changed.toString(),
            "--journal",
            journal(),
            "--html",
            page.toString(),
            "-o",
            "json");
    if (ran.exitCode() != 0) {
      throw new ScenarioException("what-if ended with " + ran);
    }
    try {
      JsonNode figures = JsonMappers.JSON.readTree(ran.out());
      double before = longestWait(figures.path("before"));
      double after = longestWait(figures.path("after"));
      boolean shorter = after < before && Files.size(page) > 0;
      String told = "blue's longest wait: %.0f s, and %.0f s instead".formatted(before, after);
      results.judge(Point.WHAT_IF, shorter ? Optional.empty() : Optional.of(told), told);
    } catch (IOException e) {
      throw new ScenarioException("what-if wrote no figures: " + e.getMessage());
    }
  }

  /** The longest wait in the queue of team blue, in seconds. */
  private static double longestWait(JsonNode figures) {
    for (JsonNode waits : figures.path("waits")) {
      if (waits.path("clusterQueue").asText().equals("blue") && !waits.hasNonNull("priority")) {
        return waits.path("maxSeconds").asDouble();
      }
    }
    throw new ScenarioException("what-if says nothing of team blue: " + figures);
  }

  private void replay() {
    progressListener.say("sluice replay …");
    Ran equal = sluice("replay", journal());
    String told = equal.out().strip();
    results.judge(
        Point.REPLAYED, equal.exitCode() == 0 ? Optional.empty() : Optional.of(told), told);
    Ran planted = sluice("replay", "--self-test", journal());
    String found =
        planted.out().lines().findFirst().orElse("nothing was said").replaceFirst(" of .*", "");
    results.judge(
        Point.FOUND, planted.exitCode() == 0 ? Optional.empty() : Optional.of(found), found);
  }

  private String journal() {
    return files.resolve("journal").toString();
  }

  /** A command, as a user would type it. */
  private record Ran(int exitCode, String out) {}

  private static Ran sluice(String... arguments) {
    StringWriter out = new StringWriter();
    int exitCode =
        Main.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(out))
            .execute(arguments);
    return new Ran(exitCode, out.toString());
  }

  /** The authority of the API server. */
  private String ofKubeconfig() {
    return new String(
        Base64.getDecoder().decode(client.getConfiguration().getCaCertData()),
        StandardCharsets.UTF_8);
  }

  /** A client that trusts an authority, as PEM. */
  static HttpClient trusting(String authority) {
    try {
      return HttpClient.newBuilder()
          .connectTimeout(REQUEST_TIMEOUT)
          .sslContext(TlsContexts.client(Optional.of(authority), Optional.empty()))
          .build();
    } catch (GeneralSecurityException e) {
      throw new ScenarioException("no TLS: " + e.getMessage());
    }
  }

  private static String job(String name, String queue, int cpus, Duration run) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: %s
      namespace: default
      labels: {kueue.x-k8s.io/queue-name: %s}
      annotations: {sluice.dev/expected-run-time: %ds}
    spec:
      template:
        metadata: {annotations: {sluice.dev/run-for: %ds}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
    """
        .formatted(name, queue, RUN.toSeconds(), run.toSeconds(), cpus);
  }
}
