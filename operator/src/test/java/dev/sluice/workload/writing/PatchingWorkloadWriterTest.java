package dev.sluice.workload.writing;

import static dev.sluice.workload.Json.workload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Backoff;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.ScriptedServer.Asked;
import dev.sluice.workload.Templates;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a write is certain before it is told, whatever happens to its answer. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PatchingWorkloadWriterTest {

  private static final WorkloadId ID = new WorkloadId("uid-a", "team", "a");
  private static final String CONFLICT =
      "{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\",\"message\":\"modified\"}";

  private final List<String> answers = new CopyOnWriteArrayList<>();
  private ScriptedServer server;
  private PatchingWorkloadWriter writer;

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
    writer =
        new PatchingWorkloadWriter(
            new ApiClient(server.client(), ApiClient.Options.atATime(3)),
            new WorkloadParser(),
            workload -> answers.add(workload.id().name() + workload.version()),
            2,
            InstantSource.system(),
            new Random(1));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private CompletableFuture<Outcome> reclaim() {
    return writer.patchStatus(
        ID, 7, Templates.node("reclaimablePods: [{name: main, count: 1}]"), Urgency.DECISION);
  }

  private static String reclaimed(long version) {
    return workload(
        "a", "uid-a", version, "{\"reclaimablePods\":[{\"name\":\"main\",\"count\":1}]}");
  }

  @Test
  void aStatusIsPatchedWithVersionAndUidAsItsGuard() {
    server.then(200, reclaimed(8));

    assertThat(reclaim().join()).isEqualTo(new Outcome.Written(8));

    Asked asked = server.asked().getFirst();
    assertThat(asked.method()).isEqualTo("PATCH");
    assertThat(asked.uri())
        .isEqualTo(
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/a/status"
                + "?fieldManager=kueue-reclaimable-pods");
    assertThat(Templates.node(asked.body()))
        .isEqualTo(
            Templates.node(
                """
                status: {reclaimablePods: [{name: main, count: 1}]}
                metadata: {resourceVersion: "7", uid: uid-a}
                """));
    assertThat(answers).containsExactly("a8");
  }

  @Test
  void aWriteWhoseOutcomeNobodyWaitsForAnyMoreIsNotSent() {
    CountDownLatch answer = new CountDownLatch(1);
    ApiClient client = new ApiClient(server.client(), ApiClient.Options.atATime(1));
    writer =
        new PatchingWorkloadWriter(
            client, new WorkloadParser(), workload -> {}, 2, InstantSource.system(), new Random(1));
    server
        .then(
            exchange -> {
              answer.await();
              ScriptedServer.reply(exchange, 200, "{}");
            })
        .then(200, "{}");
    var first = client.send(ApiRequest.get("/first"));
    CompletableFuture<Outcome> late = reclaim();
    var last = client.send(ApiRequest.get("/last"));

    late.cancel(false);
    answer.countDown();

    first.join();
    last.join();
    assertThat(server.asked()).extracting(Asked::uri).containsExactly("/first", "/last");
  }

  @Test
  void otherStatusHasAnotherFieldOwnerThanTheObject() {
    server.then(200, workload("a", 8)).then(200, workload("a", 9));
    writer.patchStatus(ID, 0, Templates.node("conditions: []"), Urgency.DECISION).join();
    writer.patch(ID, 8, Templates.node("spec: {active: false}")).join();

    assertThat(server.asked())
        .extracting(Asked::uri)
        .satisfiesExactly(
            uri -> assertThat(uri).endsWith("/a/status?fieldManager=kueue-admission"),
            uri -> assertThat(uri).endsWith("/a?fieldManager=kueue"));
    assertThat(server.asked().getFirst().body()).doesNotContain("resourceVersion");
  }

  @Test
  void aConflictIsOneWhenTheObjectHasMovedOn() {
    server.then(409, CONFLICT).then(200, workload("a", 9));
    assertThat(reclaim().join()).isEqualTo(new Outcome.Conflict());
    assertThat(answers).as("what was read is known at once").containsExactly("a9");
  }

  @Test
  void aConflictIsNoneWhenTheWriteStands() {
    server.then(409, CONFLICT).then(200, reclaimed(8));
    assertThat(reclaim().join()).isEqualTo(new Outcome.Written(8));
  }

  /** It would be sent without end, and nothing else in its place. */
  @Test
  void aConflictWithNothingThatHasMovedIsARefusalInTheEnd() {
    for (int attempt = 0; attempt < 3; attempt++) {
      server.then(409, CONFLICT).then(200, workload("a", 7));
    }
    assertThat(
            writer.patchStatus(ID, 7, Templates.node("conditions: []"), Urgency.BEST_EFFORT).join())
        .isEqualTo(new Outcome.Refused(409, "modified"));
  }

  @Test
  void soIsTheConflictOfACreationWithNothing() {
    for (int attempt = 0; attempt < 3; attempt++) {
      server.then(409, CONFLICT).then(404, "{\"kind\":\"Status\",\"code\":404}");
    }
    var creation =
        new PatchingWorkloadWriter.RetryingWrite(
            new ApiWrite.Create(
                new WorkloadId("", "team", "a"), Templates.node("metadata: {name: a}")),
            3,
            new Backoff(Duration.ZERO, Duration.ZERO, new Random(1)),
            new ApiClient(server.client(), ApiClient.Options.atATime(3)),
            (pause, task) -> task.run(),
            body -> 0);
    creation.send();
    assertThat(creation.outcome().join()).isEqualTo(new Outcome.Refused(409, "modified"));
  }

  @Test
  void anObjectOfTheSameNameIsAnother() {
    server.then(409, CONFLICT).then(200, workload("a", "uid-other", 9, "{}"));
    assertThat(reclaim().join()).isEqualTo(new Outcome.Gone());
  }

  @Test
  void whatDoesNotExistIsGone() {
    server.then(404, "{\"kind\":\"Status\",\"code\":404}");
    assertThat(reclaim().join()).isEqualTo(new Outcome.Gone());
  }

  @Test
  void whatTheServerForbidsIsRefusedWithItsMessage() {
    server.then(422, "{\"kind\":\"Status\",\"code\":422,\"message\":\"spec.x: no\"}");
    assertThat(reclaim().join()).isEqualTo(new Outcome.Refused(422, "spec.x: no"));
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 503, 504})
  void afterAFailureItIsLookedUpBeforeItIsSentAgain(int code) {
    server.then(code, "{}").then(200, workload("a", 7)).then(200, reclaimed(8));
    assertThat(reclaim().join()).isEqualTo(new Outcome.Written(8));
    assertThat(server.asked()).extracting(Asked::method).containsExactly("PATCH", "GET", "PATCH");
  }

  @Test
  void anAnswerThatGotLostIsLookedUp() {
    server.thenBreak().then(200, reclaimed(8));
    assertThat(reclaim().join()).isEqualTo(new Outcome.Written(8));
    assertThat(server.asked()).extracting(Asked::method).containsExactly("PATCH", "GET");
  }

  @Test
  void soIsALookUp() {
    server.thenBreak().thenBreak().then(500, "{}").then(200, workload("a", 9));
    assertThat(reclaim().join()).isEqualTo(new Outcome.Conflict());
  }

  /** Its generation is an int as it is read, and a long as it is written. */
  @Test
  void conditionsWhoseAnswerGotLostAreRecognizedToo() throws IOException {
    CachedWorkload known =
        new WorkloadParser().parse(workload("a", 7).getBytes(StandardCharsets.UTF_8));
    ObjectNode status =
        StatusPatch.of(known, Instant.parse("2026-03-01T10:00:00Z"))
            .condition("Finished", true, "Succeeded", "done")
            .build();
    assertThat(status.at("/conditions/0/observedGeneration").asInt()).isEqualTo(1);
    server.thenBreak().then(200, workload("a", "uid-a", 8, status.toString()));

    assertThat(writer.patchStatus(ID, 7, status, Urgency.DECISION).join())
        .isEqualTo(new Outcome.Written(8));

    String other =
        status.toString().replace("\"observedGeneration\":1", "\"observedGeneration\":2");
    server.thenBreak().then(200, workload("a", "uid-a", 8, other));
    assertThat(writer.patchStatus(ID, 7, status, Urgency.DECISION).join())
        .isEqualTo(new Outcome.Conflict());
  }

  @Test
  void aBusyServerIsAskedAgainWhenItSays() {
    server
        .then(
            exchange -> {
              exchange.getResponseHeaders().add("Retry-After", "1");
              ScriptedServer.reply(exchange, 429, "{}");
            })
        .then(200, reclaimed(8));
    long begun = System.nanoTime();
    assertThat(reclaim().join()).isEqualTo(new Outcome.Written(8));
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(1));
  }

  @Test
  void aCreationWhoseAnswerGotLostIsOursWhenOurJobOwnsIt() {
    ObjectNode created =
        Templates.node(
            """
            metadata:
              name: a
              ownerReferences: [{uid: job-a}]
            """);
    server.thenBreak().then(200, workload("a", 8));
    assertThat(writer.create("team", created).join()).isEqualTo(new Outcome.Written(8));

    server.then(409, "{}").then(200, workload("b", 9).replace("\"name\":\"b\"", "\"name\":\"a\""));
    assertThat(writer.create("team", created).join()).isEqualTo(new Outcome.Conflict());
  }

  @Test
  void aDeletionIsInTheBackgroundAndOfThisUidOnly() {
    server.then(200, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    assertThat(writer.delete(ID).join()).isInstanceOf(Outcome.Written.class);
    assertThat(Templates.node(server.asked().getFirst().body()))
        .isEqualTo(
            Templates.node(
                """
                apiVersion: v1
                kind: DeleteOptions
                propagationPolicy: Background
                preconditions: {uid: uid-a}
                """));
  }

  @Test
  void soManyDecisionsGoAtATimeAndAdviceWaitsForThem() {
    CountDownLatch go = new CountDownLatch(1);
    ScriptedServer.Step slow =
        exchange -> {
          go.await();
          ScriptedServer.reply(exchange, 200, workload("a", 8));
        };
    server.then(slow).then(slow).then(slow).then(slow);
    List<CompletableFuture<Outcome>> decisions = List.of(reclaim(), reclaim(), reclaim());
    CompletableFuture<Outcome> advice =
        writer.patchStatus(ID, 7, Templates.node("conditions: []"), Urgency.BEST_EFFORT);

    await().untilAsserted(() -> assertThat(server.asked()).hasSize(2));
    assertThat(writer.inFlight()).isEqualTo(2);
    assertThat(writer.waiting()).isEqualTo(2);

    go.countDown();
    decisions.forEach(CompletableFuture::join);
    advice.join();
    assertThat(server.asked().subList(0, 2))
        .allSatisfy(asked -> assertThat(asked.uri()).endsWith("kueue-reclaimable-pods"));
  }

  @Test
  void theEndWaitsForDecisionsAndDropsAdvice() {
    CountDownLatch go = new CountDownLatch(1);
    ScriptedServer.Step slow =
        exchange -> {
          go.await();
          ScriptedServer.reply(exchange, 200, reclaimed(8));
        };
    server.then(slow).then(slow).then(slow);
    List<CompletableFuture<Outcome>> decisions = List.of(reclaim(), reclaim(), reclaim());
    CompletableFuture<Outcome> advice =
        writer.patchStatus(ID, 7, Templates.node("conditions: []"), Urgency.BEST_EFFORT);
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(2));

    CompletableFuture<Void> drained = writer.drain(Duration.ofSeconds(20));

    assertThat(advice.join()).isInstanceOf(Outcome.Refused.class);
    assertThat(reclaim().join()).as("nothing new is taken").isInstanceOf(Outcome.Refused.class);
    assertThat(drained).isNotDone();
    go.countDown();
    drained.join();
    assertThat(decisions)
        .allSatisfy(decision -> assertThat(decision.join()).isEqualTo(new Outcome.Written(8)));
  }
}
