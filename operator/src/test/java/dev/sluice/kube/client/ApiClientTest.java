package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.ScriptedServer.Asked;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ApiClientTest {

  private static final ObjectNode PATCH = JsonNodeFactory.instance.objectNode().put("a", 1);

  private ScriptedServer server;

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private ApiClient client(int atATime) {
    return new ApiClient(server.client(), ApiClient.Options.atATime(atATime));
  }

  @Test
  void pathsOfObjects() {
    server.then(200, "{}").then(200, "{}").then(200, "{}");
    ApiClient client = client(4);

    client.patch(
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("n")
            .withName("m")
            .endMetadata()
            .build(),
        PATCH);
    client.patchStatus(
        new NamespaceBuilder().withNewMetadata().withName("n").endMetadata().build(), PATCH);
    var unused = client.send(ApiRequest.get("apis/g/v1/things/t")).join();

    assertThat(server.asked())
        .extracting(Asked::uri)
        .containsExactly(
            "/api/v1/namespaces/n/configmaps/m",
            "/api/v1/namespaces/n/status",
            "/apis/g/v1/things/t");
  }

  @Test
  void everyAnswerIsOneOutcome() {
    ApiClient client = client(4);
    ApiRequest request = ApiRequest.patch("/a", PATCH);
    server
        .then(200, "{\"kind\":\"Thing\"}")
        .then(409, "{\"message\":\"changed\"}")
        .then(404, "{\"message\":\"none\"}")
        .then(422, "{\"message\":\"no\"}")
        .then(403, "plain")
        .then(401, "{\"message\":\"who\"}")
        .then(429, "{\"message\":\"busy\"}")
        .then(503, "{\"message\":\"down\"}")
        .thenBreak();

    assertThat(client.send(request).join())
        .isInstanceOfSatisfying(
            ApiOutcome.Written.class,
            written -> assertThat(written.object().path("kind").asText()).isEqualTo("Thing"));
    assertThat(client.send(request).join()).isEqualTo(new ApiOutcome.Conflict("changed"));
    assertThat(client.send(request).join()).isEqualTo(new ApiOutcome.Gone("none"));
    assertThat(client.send(request).join()).isEqualTo(new ApiOutcome.Refused(422, "no"));
    assertThat(client.send(request).join()).isEqualTo(new ApiOutcome.Refused(403, "plain"));
    for (int code : List.of(401, 429, 503, 0)) {
      assertThat(client.send(request).join())
          .isInstanceOfSatisfying(
              ApiOutcome.Unreachable.class,
              unreachable -> {
                assertThat(unreachable.code()).isEqualTo(code);
                assertThat(unreachable.sent()).isTrue();
              });
    }
  }

  @Test
  void theTimeThatTheServerAsksForIsKept() {
    server.then(
        exchange -> {
          exchange.getResponseHeaders().add("Retry-After", "7");
          ScriptedServer.reply(exchange, 429, "{}");
        });

    assertThat(client(1).send(ApiRequest.get("/a")).join())
        .isInstanceOfSatisfying(
            ApiOutcome.Unreachable.class,
            busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofSeconds(7)));
  }

  @Test
  void onlySoManyRequestsAreUnderWay() {
    CountDownLatch answer = new CountDownLatch(1);
    ApiClient client = client(2);
    List<CompletableFuture<ApiOutcome>> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      server.then(
          exchange -> {
            answer.await();
            ScriptedServer.reply(exchange, 200, "{}");
          });
      sent.add(client.send(ApiRequest.get("/" + i)));
    }

    await().until(() -> server.asked().size() == 2);
    assertThat(sent).noneMatch(CompletableFuture::isDone);
    answer.countDown();
    await().until(() -> sent.stream().allMatch(CompletableFuture::isDone));
    assertThat(server.asked()).hasSize(5);
  }

  @Test
  void aRequestThatIsCancelledBeforeItsTurnIsNotSent() {
    CountDownLatch answer = new CountDownLatch(1);
    ApiClient client = client(1);
    server
        .then(
            exchange -> {
              answer.await();
              ScriptedServer.reply(exchange, 200, "{}");
            })
        .then(200, "{}");
    var first = client.send(ApiRequest.get("/first"));
    var abandoned = client.send(ApiRequest.patch("/abandoned", PATCH));
    var last = client.send(ApiRequest.get("/last"));
    await().until(() -> server.asked().size() == 1);

    abandoned.cancel(false);
    answer.countDown();

    assertThat(first.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(last.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(server.asked()).extracting(Asked::uri).containsExactly("/first", "/last");
  }

  /** By then others have decided anew, from newer facts. */
  @Test
  void aRequestWhoseResultNobodyWaitsForAnyMoreIsNotSent() {
    CountDownLatch answer = new CountDownLatch(1);
    ApiClient client = client(1);
    server
        .then(
            exchange -> {
              answer.await();
              ScriptedServer.reply(exchange, 200, "{}");
            })
        .then(200, "{}");
    var first = client.send(ApiRequest.get("/first"));
    var late = client.send(ApiRequest.patch("/late", PATCH)).thenApply(ApiOutcome.class::cast);
    var last = client.send(ApiRequest.get("/last"));

    assertThatThrownBy(() -> Futures.forResult(late, Duration.ofMillis(20)))
        .isInstanceOf(IllegalStateException.class);
    answer.countDown();

    assertThat(first.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(last.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(server.asked()).extracting(Asked::uri).containsExactly("/first", "/last");
  }

  @Test
  void whetherAWriteIsAllowedIsAskedWhenItIsSent() {
    AtomicBoolean leads = new AtomicBoolean(true);
    CountDownLatch answer = new CountDownLatch(1);
    ApiClient client =
        new ApiClient(server.client(), ApiClient.Options.atATime(1).writingWhile(leads::get));
    server.then(
        exchange -> {
          answer.await();
          ScriptedServer.reply(exchange, 200, "{}");
        });
    var first = client.send(ApiRequest.patch("/a", PATCH));
    List<CompletableFuture<ApiOutcome>> queued = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      queued.add(client.send(ApiRequest.patch("/b", PATCH)));
    }
    await().until(() -> server.asked().size() == 1);
    leads.set(false);
    answer.countDown();

    assertThat(first.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(queued)
        .allSatisfy(
            write ->
                assertThat(write.join())
                    .isInstanceOfSatisfying(
                        ApiOutcome.Unreachable.class,
                        unreachable -> assertThat(unreachable.sent()).isFalse()));
    server.then(200, "{}");
    assertThat(client.send(ApiRequest.get("/c")).join()).isInstanceOf(ApiOutcome.Written.class);
  }

  @Test
  void aRequestWaitsForTheLimiter() {
    AtomicInteger asked = new AtomicInteger();
    RequestLimiter slow =
        new RequestLimiter(
            1.0 / Duration.ofDays(1).toSeconds(),
            1,
            () -> {
              asked.incrementAndGet();
              return 0;
            });
    ApiClient client = new ApiClient(server.client(), ApiClient.Options.atATime(5).limitedBy(slow));
    server.then(200, "{}").then(200, "{}");
    asked.set(0);

    assertThat(client.send(ApiRequest.get("/first")).join()).isInstanceOf(ApiOutcome.Written.class);
    CompletableFuture<ApiOutcome> waiting = client.send(ApiRequest.get("/waits"));
    ApiClient other = new ApiClient(server.client(), ApiClient.Options.atATime(5));
    assertThat(other.send(ApiRequest.get("/other")).join()).isInstanceOf(ApiOutcome.Written.class);

    assertThat(asked).hasValue(2);
    assertThat(waiting).isNotDone();
    waiting.cancel(false);
  }

  @Test
  void aClosedGateWaitsForWritesInFlightAndLetsNoOtherThrough() {
    WriteGate gate = WriteGate.open();
    ApiClient client =
        new ApiClient(server.client(), ApiClient.Options.atATime(2).writingThrough(gate));
    CountDownLatch answer = new CountDownLatch(1);
    server.then(
        exchange -> {
          answer.await();
          ScriptedServer.reply(exchange, 200, "{}");
        });
    var inFlight = client.send(ApiRequest.patch("/a", PATCH));
    await().until(() -> server.asked().size() == 1);

    assertThat(gate.close(Duration.ofMillis(50))).isFalse();
    assertThat(client.send(ApiRequest.patch("/b", PATCH)).join())
        .isInstanceOfSatisfying(
            ApiOutcome.Unreachable.class, late -> assertThat(late.sent()).isFalse());
    var closed = CompletableFuture.supplyAsync(() -> gate.close(Duration.ofSeconds(20)));
    assertThat(closed).isNotDone();
    answer.countDown();

    assertThat(closed.join()).isTrue();
    assertThat(inFlight.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(server.asked()).extracting(Asked::uri).containsExactly("/a");
  }

  @Test
  void anErrorWhileSendingGivesTheSlotBack() {
    AtomicBoolean broken = new AtomicBoolean(true);
    WriteGate gate =
        new WriteGate(
            () -> {
              if (broken.get()) {
                throw new StackOverflowError("intended");
              }
              return true;
            });
    ApiClient client =
        new ApiClient(server.client(), ApiClient.Options.atATime(1).writingThrough(gate));
    server.then(200, "{}");

    assertThat(client.send(ApiRequest.patch("/a", PATCH)).join())
        .isInstanceOf(ApiOutcome.Unreachable.class);
    broken.set(false);

    assertThat(client.send(ApiRequest.patch("/b", PATCH)).join())
        .isInstanceOf(ApiOutcome.Written.class);
    assertThat(gate.close(Duration.ZERO)).isTrue();
  }
}
