package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.ledger.UsageDocument;
import dev.sluice.ledger.UsageReport;
import dev.sluice.ledger.UsageRows;
import dev.sluice.ledger.UsageRows.UsageRow;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Two teams with a cheaper flavor and a dearer one: the cheaper one is taken if it starts soon
 * enough. One team has a budget for the week, is warned, held, and goes on in the next week. At the
 * end the bill is compared with what was seen to run. Not thread-safe; runs once.
 */
final class BudgetScenario {

  static final String NAMESPACE = "default";

  /** The currency of the prices. */
  static final String CURRENCY = "EUR";

  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(3);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration PRICES_KNOWN = Duration.ofSeconds(3);
  private static final Duration BILL_WRITTEN = Duration.ofSeconds(30);
  private static final String BUDGET = "blue";
  private static final String SPOT = "spot";
  private static final String ON_DEMAND = "on-demand";
  private static final int CPUS = 2;
  private static final int LONG_SECONDS = 900;

  /** What a CPU costs in a second, by the prices in the manifest. */
  private static final Map<String, BigDecimal> PER_SECOND =
      Map.of(SPOT, new BigDecimal("0.1"), ON_DEMAND, new BigDecimal("0.3"));

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The points of the story, in order. */
  enum Point implements Expectation {
    CHEAPEST("the cheaper flavor is taken, though the dearer one is listed first"),
    WAITED("a Job waits for the cheaper flavor that is expected to be free soon enough"),
    NOT_LONGER("another one doesn't, because it would be free too late: it takes the dearer one"),
    WARNED("team blue is told when half of its week's budget is spent"),
    HELD("a Job that costs more than is left is held, with the figures; team green goes on"),
    NEXT_WEEK("it starts when the next week begins"),
    BILL("the bill is what ran, to the cent");

    private final String text;

    Point(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }

  private final KubernetesClient client;
  private final WatchRecorder recorder;
  private final ProgressListener progressListener;
  private final ScenarioCluster cluster;
  private final ExpectationResults<Point> results;
  private final URI usage;
  private List<String> bill = List.of();

  /**
   * A scenario in a cluster with an operator that keeps a ledger.
   *
   * @param visibilityPort where the operator answers on this machine
   */
  BudgetScenario(
      KubernetesClient client,
      WatchRecorder recorder,
      ProgressListener progressListener,
      int visibilityPort) {
    this.client = client;
    this.recorder = recorder;
    this.progressListener = progressListener;
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
    this.results = new ExpectationResults<>(Point.class, progressListener);
    this.usage =
        URI.create(
            "https://127.0.0.1:%d/apis/visibility.kueue.x-k8s.io/v1beta2/usage?by=queue&since="
                    .formatted(visibilityPort)
                + InstantSource.system().instant().minus(Duration.ofHours(1)));
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  List<ExpectationResult> tell() {
    return results.of(this::play);
  }

  /** The bill as a table, and what it would have been on demand; empty if there is none yet. */
  List<String> bill() {
    return bill;
  }

  private void play() {
    cluster.create(ScenarioManifests.text("budget/01-teams.yaml"));
    cluster.await(
        "the budget to count",
        () -> budget().filter(each -> !each.at("/status/period").isMissingNode()));
    // Times in the API are whole seconds, and a price counts from when it is known.
    var unused = recorder.await(PRICES_KNOWN, Optional::empty);
    List<ScenarioJob> jobs = new ArrayList<>();
    progressListener.say("blue submits two Jobs of 2 CPUs for 20 s; spot has room for one");
    ScenarioJob first = submit(jobs, "blue-1", "blue", 20, 20);
    first.awaitStart();
    String taken = flavor(first);
    judge(Point.CHEAPEST, taken.equals(SPOT), "blue-1 runs on " + taken);
    ScenarioJob second = submit(jobs, "blue-2", "blue", 20, 20);
    String waits = awaitMessage(second, "is cheaper");
    progressListener.say("green submits one that is expected to run 15 min, and one of 15 s");
    submit(jobs, "green-1", "green", 45, LONG_SECONDS).awaitStart();
    ScenarioJob impatient = submit(jobs, "green-2", "green", 15, 15);
    impatient.awaitStart();
    taken = flavor(impatient);
    judge(Point.NOT_LONGER, taken.equals(ON_DEMAND), "green-2 runs on " + taken);
    second.awaitStart();
    judge(Point.WAITED, flavor(second).equals(SPOT), waits);
    String warning = cluster.await("the warning", this::warning);
    judge(Point.WARNED, true, warning);
    second.awaitCompletion();
    held(jobs);
    jobs.forEach(ScenarioJob::awaitCompletion);
    try (HttpClient http = TimeScenario.trusting(OperatorAccount.certificateAuthority(client))) {
      judgeBill(http, OperatorAccount.token(client, "visitor"));
    }
  }

  private void held(List<ScenarioJob> jobs) {
    progressListener.say("blue submits one of 30 s, which costs 6; there is less left of 12");
    ScenarioJob third = submit(jobs, "blue-3", "blue", 30, 30);
    String why = awaitMessage(third, "BudgetExhausted: Budget " + BUDGET);
    submit(jobs, "green-3", "green", 5, 5).awaitStart();
    judge(Point.HELD, third.waits(), why);
    progressListener.say("nobody waits for Monday: the account becomes one of the week before");
    lastWeek();
    third.awaitStart();
    judge(
        Point.NEXT_WEEK,
        true,
        "blue-3 runs on %s; %s of 12 are spent in the new week"
            .formatted(
                flavor(third),
                budget().map(each -> each.at("/status/limits/0/spent").asText()).orElse("")));
  }

  private void judge(Point point, boolean held, String detail) {
    results.judge(point, held ? Optional.empty() : Optional.of(detail), detail);
  }

  private ScenarioJob submit(
      List<ScenarioJob> jobs, String name, String queue, int runs, int expected) {
    ScenarioJob job =
        cluster.submit(
            """
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
                .formatted(name, queue, expected, runs, CPUS));
    jobs.add(job);
    return job;
  }

  /** The flavor of a Job that started; its Workload may be seen later than the start. */
  private String flavor(ScenarioJob job) {
    return cluster.await(
        "the flavor of Job " + job.name(),
        () ->
            job.workload()
                .map(each -> each.at("/status/admission/podSetAssignments/0/flavors/cpu").asText())
                .filter(each -> !each.isEmpty()));
  }

  /** The message of a Workload that waits, once it has this text. */
  private String awaitMessage(ScenarioJob job, String text) {
    return cluster.await(
        "what holds Job " + job.name(),
        () ->
            job.workload()
                .flatMap(each -> condition(each, "QuotaReserved", "False"))
                .map(each -> each.path("message").asText())
                .filter(each -> each.contains(text)));
  }

  private Optional<String> warning() {
    return client.v1().events().inAnyNamespace().list().getItems().stream()
        .filter(event -> "BudgetNearlySpent".equals(event.getReason()))
        .map(event -> event.getMessage())
        .findFirst();
  }

  private Optional<JsonNode> budget() {
    return Optional.ofNullable(
            client
                .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
                .withName(BUDGET)
                .get())
        .map(JSON::valueToTree);
  }

  /** As if the account had been written a week ago: the next look at it begins a new week. */
  private void lastWeek() {
    LocalDate monday =
        LocalDate.ofInstant(InstantSource.system().instant(), ZoneOffset.UTC)
            .with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
    ObjectNode patch = JSON.createObjectNode();
    patch
        .putObject("status")
        .putObject("account")
        .put("writer", "demo")
        .put("start", monday.minusWeeks(1).atStartOfDay(ZoneOffset.UTC).toInstant().toString())
        .put("end", monday.atStartOfDay(ZoneOffset.UTC).toInstant().toString());
    client
        .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
        .withName(BUDGET)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString());
  }

  private void judgeBill(HttpClient http, String token) {
    progressListener.say("sluice usage --by queue");
    BigDecimal ran = ran();
    UsageRows rows =
        recorder
            .await(
                BILL_WRITTEN,
                () -> Optional.of(ask(http, token)).filter(each -> cost(each).compareTo(ran) == 0))
            .orElseGet(() -> ask(http, token));
    BigDecimal cost = cost(rows);
    BigDecimal dearest =
        rows.rows().stream()
            .map(row -> row.reserved().multiply(PER_SECOND.get(ON_DEMAND)))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    bill = new ArrayList<>(table(rows));
    bill.add(
        "all of it on demand: %s %s; saved: %s"
            .formatted(text(dearest), CURRENCY, text(dearest.subtract(cost))));
    judge(
        Point.BILL,
        cost.compareTo(ran) == 0,
        "billed %s, ran %s %s".formatted(text(cost), text(ran), CURRENCY));
  }

  private UsageRows ask(HttpClient http, String token) {
    try {
      return UsageDocument.parse(
          TimeScenario.send(
              http,
              HttpRequest.newBuilder(usage)
                  .header("Authorization", "Bearer " + token)
                  .timeout(REQUEST_TIMEOUT)
                  .build()));
    } catch (IOException e) {
      throw new ScenarioException("the operator's answer is no bill: " + e.getMessage());
    }
  }

  private static List<String> table(UsageRows rows) {
    try {
      return new UsageReport(rows).in(UsageReport.Format.TABLE).lines().toList();
    } catch (IOException e) {
      throw new ScenarioException("the bill can't be printed: " + e.getMessage());
    }
  }

  private static BigDecimal cost(UsageRows rows) {
    return rows.rows().stream().map(UsageRow::cost).reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  /** What was seen of Workloads, from their reservation to their end, at the prices. */
  private BigDecimal ran() {
    Map<String, BigDecimal> byName = new TreeMap<>();
    for (JsonNode workload : recorder.current(AuditedKind.WORKLOAD)) {
      Instant from = time(workload, "QuotaReserved");
      Instant to = time(workload, "Finished");
      JsonNode podSet = workload.at("/status/admission/podSetAssignments/0");
      BigDecimal price = PER_SECOND.get(podSet.at("/flavors/cpu").asText());
      byName.put(
          workload.at("/metadata/name").asText(),
          BigDecimal.valueOf(Duration.between(from, to).toSeconds())
              .multiply(new BigDecimal(podSet.at("/resourceUsage/cpu").asText()))
              .multiply(price == null ? BigDecimal.ZERO : price));
    }
    return byName.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private static Instant time(JsonNode workload, String type) {
    return condition(workload, type, "True")
        .map(each -> Instant.parse(each.path("lastTransitionTime").asText()))
        .orElseThrow(() -> new ScenarioException("a Workload is not " + type + ": " + workload));
  }

  private static Optional<JsonNode> condition(JsonNode workload, String type, String status) {
    for (JsonNode each : workload.at("/status/conditions")) {
      if (each.path("type").asText().equals(type) && each.path("status").asText().equals(status)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  private static String text(BigDecimal amount) {
    return amount.stripTrailingZeros().toPlainString();
  }
}
