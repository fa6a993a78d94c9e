package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.Holder;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.forecast.simulate.Feasibility;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.forecast.simulate.SimulationResult.Bill;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.jobs.controller.JobSimulator;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.server.FakeReviews;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.webhooks.kinds.ManifestReview;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.ClusterNotListedException;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may ask what would become of a job, and what they are told. */
@EnableKubernetesMockClient
class SimulationEndpointTest {

  private static final String PATH =
      "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/simulations";
  private static final String JOB = "{apiVersion: batch/v1, kind: Job, metadata: {name: a}}";
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private final List<ObjectNode> asked = new ArrayList<>();
  private final List<String> askers = new ArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final Semaphore waiting = new Semaphore(0);
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private final BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();

  /** Waits behind another, and would preempt two; Workloads of two namespaces are in the way. */
  private final class Simulator implements JobSimulator {

    @Override
    public Optional<JobKind> kind(String apiVersion, String kind) {
      return Optional.of(JobKind.of("batch", "v1", "Job"))
          .filter(known -> known.is(apiVersion, kind));
    }

    @Override
    public Supplier<Answer> prepared(ObjectNode job, Supplier<WorkloadSimulator.Asker> asker) {
      asked.add(job);
      return switch (job.at("/metadata/name").asText()) {
        case "heavy" -> {
          begun.countDown();
          awaited(goesOn);
          yield () -> new Answer.NotQueued("it took long to read");
        }
        case "slow" ->
            () -> {
              waiting.release();
              awaited(goesOn);
              return new Answer.NotQueued("it took long to answer");
            };
        case "busy" -> Answer.Busy::new;
        case "alone" -> () -> new Answer.NotQueued("it is not queued");
        case "broken" -> throw new UnsupportedOperationException("a text has no fields");
        case "early" -> throw new ClusterNotListedException("not listed", new IOException());
        default -> {
          askers.add(asker.get().tenant());
          yield () ->
              new Answer.Simulated(
                  new SimulationResult(
                      Feasibility.AFTER_PREEMPTION,
                      new PendingReport(
                          new PendingPosition(id("team", "a"), "lq", 5, NOW, 3, 1, false),
                          "cq",
                          Optional.of(
                              new Explanation(
                                  PendingReason.PENDING_EVALUATION,
                                  List.of(),
                                  "waits behind secret/head, which doesn't fit, in a StrictFIFO"
                                      + " queue")),
                          List.of(holder("team"), holder("secret"))),
                      Optional.empty(),
                      Optional.empty(),
                      List.of(target("team"), target("secret")),
                      Optional.empty(),
                      new Bill(
                          Optional.of(
                              new FlavorAttempt.Cost(
                                  new BigDecimal("2.5"), Optional.of(BigDecimal.TEN))),
                          List.of(budget("reserving", true), budget("counting", false)),
                          List.of("spot")),
                      NOW),
                  "it leaves something out",
                  new JobSimulator.Workers(
                      true, List.of("onsite", "remote"), "it would be offered to both"));
        }
      };
    }
  }

  private static void awaited(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static WorkloadId id(String namespace, String name) {
    return new WorkloadId("uid-" + name, namespace, name);
  }

  private static Holder holder(String namespace) {
    return new Holder(id(namespace, "holds"), "cq", new FlavorResource("spot", "cpu"), 2_000);
  }

  private static Decision.Target target(String namespace) {
    return new Decision.Target(
        id(namespace, "victim"), 1, List.of("cq"), 0, PreemptionReason.IN_CLUSTER_QUEUE);
  }

  private SimulationEndpoint endpoint() {
    return endpoint(new ManifestReview(Map.of(), List.of()));
  }

  private SimulationEndpoint endpoint(ManifestReview manifestReview) {
    FakeReviews reviews = new FakeReviews(server);
    return new SimulationEndpoint(
        reviews.users(client),
        reviews.access(client),
        manifestReview,
        new Simulator(),
        SimulationEndpoint.budget(() -> NOW),
        request -> Response.text(200, "another"));
  }

  private static Request request(
      String token, String method, String path, String query, String body) {
    return new Request(
        method,
        path,
        query,
        Map.of("authorization", List.of("Bearer " + token)),
        RequestBody.of(body.getBytes(StandardCharsets.UTF_8)));
  }

  private static JsonNode json(Response response) throws IOException {
    return new ObjectMapper().readTree(response.body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bad  | POST | {apiVersion: batch/v1, kind: Job} | 401 | Unauthorized",
        "poor | POST | {apiVersion: batch/v1, kind: Job} | 403 | cannot create resource \"jobs\"",
        "tenant | POST | {apiVersion: batch/v1, kind: Job} | 403 | cannot create resource",
        "good | GET  | {apiVersion: batch/v1, kind: Job} | 405 | use POST",
        "good | POST | {apiVersion: v1, kind: Secret}    | 422 | are not queued here",
        "good | POST | [1]                               | 400 | it is no object",
        "good | POST | {a: 1, b                          | 400 | the body is no manifest",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: {namespace: x}} | 400 | not the"
            + " namespace of the path",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: {name: alone}} | 422 | it is not"
            + " queued",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: [a]} | 400 | metadata is no"
            + " object",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: {labels: a}} | 400 |"
            + " metadata.labels is no object",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: {name: broken}} | 422 | can't be"
            + " read",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: {name: early}} | 503 | list",
        "good | POST | {apiVersion: batch/v1, kind: Job, metadata: {name: busy}} | 503 | try again"
      })
  void whatIsNotAnswered(String token, String method, String body, int status, String message)
      throws IOException {
    Response response = endpoint().answer(request(token, method, PATH, "", body));

    assertThat(response.status()).isEqualTo(status);
    assertThat(json(response).path("message").asText()).contains(message);
    assertThat(asked).hasSizeLessThanOrEqualTo(body.contains("name: ") ? 1 : 0);
  }

  private void asks(SimulationEndpoint endpoint, String user, String job) {
    Request request = request(user, "POST", PATH, "", JOB.replace("name: a", "name: " + job));
    Thread.ofVirtual().start(() -> answers.add(endpoint.answer(request).status()));
  }

  private void answered(int times, int status) throws InterruptedException {
    for (int i = 0; i < times; i++) {
      assertThat(answers.poll(20, TimeUnit.SECONDS)).isEqualTo(status);
    }
  }

  @Test
  void oneManifestIsLookedAtAtATimeAndFewWait() throws InterruptedException {
    SimulationEndpoint endpoint = endpoint();
    asks(endpoint, "good-0", "heavy");
    awaited(begun);
    for (int i = 1; i < 10; i++) {
      asks(endpoint, "good-" + i, "heavy");
    }
    answered(5, 503);
    goesOn.countDown();
    answered(5, 422);
  }

  /** Five accounts that ask for little, and wait for long, are in nobody's way. */
  @Test
  void whoWaitsForAnAnswerKeepsNoTurn() throws InterruptedException {
    SimulationEndpoint endpoint = endpoint();
    for (int i = 0; i < 5; i++) {
      asks(endpoint, "good-" + i, "slow");
      assertThat(waiting.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(endpoint.answer(request("good", "POST", PATH, "", JOB)).status()).isEqualTo(200);
    goesOn.countDown();
    answered(5, 422);
  }

  /** A tenant has as many accounts as he likes. */
  @Test
  void serviceAccountsOfANamespaceHaveOneTurnTogether() throws InterruptedException {
    SimulationEndpoint endpoint = endpoint();
    asks(endpoint, "system:serviceaccount:crowd:first", "heavy");
    awaited(begun);
    for (int i = 0; i < 6; i++) {
      asks(endpoint, "system:serviceaccount:crowd:other-" + i, "a");
    }
    answered(6, 503);
    asks(endpoint, "system:serviceaccount:another:first", "heavy");
    goesOn.countDown();
    answered(2, 422);
  }

  /** Whoever may not use a queue isn't told how full the queue is. */
  @Test
  void webhooksJudgeTheUserWhoAsks() {
    List<RequestingUser> judged = new ArrayList<>();
    SimulationEndpoint endpoint =
        endpoint(
            new ManifestReview(
                Map.of(
                    "/validate-batch-v1-job",
                    review -> {
                      judged.add(review.requestingUser());
                      return AdmissionResult.allowed();
                    }),
                WebhookKind.all()));

    endpoint.answer(request("good", "POST", PATH, "", JOB));

    assertThat(judged).containsExactly(new RequestingUser("good", Set.of(FakeReviews.GROUP), true));
  }

  @Test
  void moreThanOneObjectIsRefused() throws IOException {
    Response response =
        endpoint().answer(request("good", "POST", PATH, "", "---\n" + JOB + "\n---\n" + JOB));

    assertThat(response.status()).isEqualTo(400);
    assertThat(json(response).path("message").asText()).contains("more than one object");
  }

  @Test
  void theQueueOfTheQueryCountsAndTheNamespaceOfThePath() throws IOException {
    Response response = endpoint().answer(request("good", "POST", PATH, "queue=other", JOB));

    assertThat(response.status()).isEqualTo(200);
    assertThat(asked.getFirst().at("/metadata/labels/kueue.x-k8s.io~1queue-name").asText())
        .isEqualTo("other");
    assertThat(asked.getFirst().at("/metadata/namespace").asText()).isEqualTo("team");
    JsonNode body = json(response);
    assertThat(body.path("feasible").asText()).isEqualTo("AfterPreemption");
    assertThat(body.path("positionInClusterQueue").asInt()).isEqualTo(3);
    assertThat(body.path("preempts")).hasSize(2);
    assertThat(body.path("holders")).hasSize(2);
    assertThat(body.toString()).contains("waits behind secret/head");
  }

  @Test
  void exportedJobIsTakenForANewOne() {
    String exported =
        """
        {apiVersion: batch/v1, kind: Job,
         metadata: {name: a, deletionTimestamp: x, resourceVersion: "7"},
         status: {conditions: [{type: Complete, status: "True"}]}}
        """;

    assertThat(endpoint().answer(request("good", "POST", PATH, "", exported)).status())
        .isEqualTo(200);

    assertThat(asked.getFirst().has("status")).isFalse();
    assertThat(asked.getFirst().path("metadata").properties())
        .extracting(Map.Entry::getKey)
        .containsExactlyInAnyOrder("name", "namespace");
  }

  private SimulationResult result() {
    return ((JobSimulator.Answer.Simulated)
            new Simulator()
                .of(
                    new ObjectMapper().createObjectNode(),
                    () -> new WorkloadSimulator.Asker("user", Duration.ZERO)))
        .result();
  }

  private SimulationResult result(Feasibility feasibility, Duration expected) {
    SimulationResult result = result();
    return new SimulationResult(
        feasibility,
        result.pendingReport(),
        Optional.empty(),
        Optional.empty(),
        List.of(),
        Optional.of(
            new StartEstimate(
                StartEstimate.Basis.DECLARED,
                Optional.of(
                    new StartEstimate.StartRange(
                        NOW, NOW.plus(expected), Optional.of(NOW.plus(expected)))),
                NOW,
                List.of("no job arrives before it starts"))),
        Bill.NONE,
        NOW);
  }

  /** Of 100 core-hours 30 are spent, and what is reserved is reserved. */
  private static BudgetAccount.OfBudget budget(String name, boolean reserves) {
    return new BudgetAccount.OfBudget(
        new BudgetSpec(
            name,
            new BudgetSpec.Scope.OfClusterQueue("cq"),
            List.of(
                new BudgetSpec.Limit(
                    "cpu", Set.of("spot"), Hours.of("cpu", BigDecimal.valueOf(100)))),
            new BudgetSpec.Period(BudgetSpec.Unit.MONTHLY, "UTC", Optional.empty()),
            BigDecimal.ZERO,
            true,
            reserves),
        new BudgetAccount(
            NOW,
            NOW.plus(Duration.ofDays(30)),
            Map.of("cpu[spot]", Hours.of("cpu", BigDecimal.valueOf(30))),
            Map.of(),
            List.of(),
            List.of(
                new BudgetAccount.Charge(
                    "asked",
                    NOW,
                    reserves ? Optional.of(NOW.plus(Duration.ofHours(10))) : Optional.empty(),
                    true,
                    Map.of("cpu[spot]", BigDecimal.valueOf(2_000))))),
        false);
  }

  @Test
  void whatRemainsOfBudgetsIsTold() throws IOException {
    ObjectNode document =
        (ObjectNode) json(endpoint().answer(request("good", "POST", PATH, "", JOB)));

    assertThat(document.path("budgets"))
        .hasToString(
            """
            [{"name":"reserving","limits":[{"resource":"cpu","flavors":["spot"],"limit":"100",\
            "remaining":"50"}]},{"name":"counting","limits":[{"resource":"cpu",\
            "flavors":["spot"],"limit":"100","remaining":"70"}]}]\
            """);
    assertThat(SimulationDocument.text(document))
        .contains(
            "50 of 100 cpu-hours would be left of Budget reserving",
            "70 of 100 cpu-hours would be left of Budget counting, which counts what is used");
  }

  @Test
  void whoCreatesAJobIsWarnedOfALongWaitOnly() {
    Duration hour = Duration.ofHours(1);

    assertThat(SimulationDocument.warning(result(Feasibility.LATER, hour.plusSeconds(1)), hour))
        .singleElement()
        .asString()
        .startsWith("starts in about 1h");
    assertThat(SimulationDocument.warning(result(Feasibility.LATER, hour), hour)).isEmpty();
    assertThat(SimulationDocument.warning(result(Feasibility.NOW, hour.plusDays(1)), hour))
        .isEmpty();
    assertThat(SimulationDocument.warning(result(), hour)).as("preempts").isEmpty();
    assertThat(SimulationDocument.warning(result(Feasibility.NEVER, hour), hour))
        .contains("Never: it would not get quota, as things are")
        .noneMatch(line -> line.contains("secret"));
  }

  @Test
  void withoutNamesNothingIsSaidOfWhoseTheyAre() {
    assertThat(SimulationDocument.withoutNames(result()))
        .contains(
            "waits behind another Workload, which doesn't fit, in a StrictFIFO queue",
            "it would preempt 2 Workloads")
        .noneMatch(line -> line.contains("secret") || line.contains("namespace"));
  }

  @Test
  void namesAreForWhoMayReadThem() {
    SimulationResult result = result();

    ObjectNode document = SimulationDocument.of(result, "team"::equals);

    assertThat(document.toString()).doesNotContain("secret");
    assertThat(document.path("hiddenTargets").asInt()).isEqualTo(1);
    assertThat(document.path("hiddenHolders").asInt()).isEqualTo(1);
    assertThat(SimulationDocument.text(document))
        .contains(
            "waits behind a Workload of another namespace, which doesn't fit, in a StrictFIFO"
                + " queue",
            "it would preempt team/victim (InClusterQueue)",
            "it would preempt 1 Workload of namespaces that you may not read");
    assertThat(SimulationDocument.of(result, namespace -> false).toString())
        .doesNotContain("secret", "holds\"", "victim");
  }

  @Test
  void whatAnAnswerLeavesOutIsTold() throws IOException {
    ObjectNode document =
        (ObjectNode) json(endpoint().answer(request("good", "POST", PATH, "", JOB)));
    assertThat(document.path("note").asText()).isEqualTo("it leaves something out");
    assertThat(SimulationDocument.text(document)).endsWith("it leaves something out");
  }

  @Test
  void costAndWorkersAreTold() throws IOException {
    ObjectNode document =
        (ObjectNode) json(endpoint().answer(request("good", "POST", PATH, "", JOB)));

    assertThat(document.path("costPerHour").asText()).isEqualTo("2.5");
    assertThat(document.path("costToFinish").asText()).isEqualTo("10");
    assertThat(document.path("workers").toString()).isEqualTo("[\"onsite\",\"remote\"]");
    assertThat(SimulationDocument.text(document))
        .contains(
            "it would cost 2.5 an hour, 10 expected to finish in flavor spot, if it gets that",
            "it would be offered to both");
  }

  @Test
  void oneUserGetsSoManyAnswers() {
    SimulationEndpoint endpoint = endpoint();
    for (int i = 0; i < 10; i++) {
      assertThat(endpoint.answer(request("good", "POST", PATH, "", JOB)).status()).isEqualTo(200);
    }
    Response last = endpoint.answer(request("good", "POST", PATH, "", JOB));
    assertThat(last.status()).isEqualTo(429);
    assertThat(last.headers()).containsKey("Retry-After");
    assertThat(endpoint.answer(request("poor", "POST", PATH, "", JOB)).status()).isEqualTo(403);
  }

  /** A tenant has as many accounts as he likes, and asks no more often with them. */
  @Test
  void serviceAccountsOfANamespaceGetSoManyAnswersTogether() {
    SimulationEndpoint endpoint = endpoint();
    for (int i = 0; i < 10; i++) {
      String account = "system:serviceaccount:crowd:account-" + i;
      assertThat(endpoint.answer(request(account, "POST", PATH, "", JOB)).status()).isEqualTo(200);
    }
    String next = "system:serviceaccount:crowd:next";
    assertThat(endpoint.answer(request(next, "POST", PATH, "", JOB)).status()).isEqualTo(429);
    String other = "system:serviceaccount:another:first";
    assertThat(endpoint.answer(request(other, "POST", PATH, "", JOB)).status()).isEqualTo(200);
    assertThat(askers)
        .hasSize(11)
        .containsOnly("system:serviceaccount:crowd", "system:serviceaccount:another");
  }

  @Test
  void otherPathsAreForOthers() {
    assertThat(endpoint().answer(request("good", "GET", "/apis", "", "")).body())
        .isEqualTo("another\n".getBytes(StandardCharsets.UTF_8));
    assertThat(endpoint().maxBody(PATH)).isEqualTo(1024 * 1024);
  }
}
