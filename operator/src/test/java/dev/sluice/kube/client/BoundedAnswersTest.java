package dev.sluice.kube.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.ScriptedServer;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Answers of servers that aren't trusted. */
class BoundedAnswersTest {

  private final ScriptedServer server = new ScriptedServer();

  BoundedAnswersTest() throws IOException {}

  @AfterEach
  void close() {
    server.close();
  }

  private final AtomicInteger tooLong = new AtomicInteger();

  private ApiClient client(Duration timeout) {
    return new ApiClient(
        server.client(),
        ApiClient.Options.atATime(1)
            .within(timeout)
            .reading(new BoundedAnswers(1000, 1000, tooLong::incrementAndGet)));
  }

  private static ApiOutcome get(ApiClient client) {
    return client.send(ApiRequest.get("api/v1/things")).join();
  }

  @Test
  void whatIsShortEnoughIsRead() {
    server.then(200, "{\"a\":\"b\"}").then(404, "{\"message\":\"none\"}").then(200, "{}");
    ApiClient client = client(Duration.ofSeconds(30));

    assertThat(get(client))
        .isInstanceOfSatisfying(
            ApiOutcome.Written.class, it -> assertThat(it.object().toString()).contains("\"b\""));
    assertThat(get(client)).isEqualTo(new ApiOutcome.Gone("none"));
    assertThat(get(client)).isInstanceOf(ApiOutcome.Written.class);
  }

  @Test
  void anAnswerWithoutEndIsGivenUpAndTheNextIsRead() {
    server.then(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream body = exchange.getResponseBody()) {
            while (true) {
              body.write("x".repeat(100).getBytes(UTF_8));
            }
          }
        });
    server.then(200, "{}");
    ApiClient client = client(Duration.ofSeconds(30));

    assertThat(get(client))
        .isInstanceOfSatisfying(
            ApiOutcome.Unreachable.class,
            it -> assertThat(it.message()).contains("more than 1000 bytes"));
    assertThat(tooLong).hasValue(1);
    assertThat(get(client)).isInstanceOf(ApiOutcome.Written.class);
  }

  @Test
  void anAnswerThatNeverEndsGivesItsPlaceBack() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    server.then(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          over.await();
        });
    server.then(200, "{}");
    ApiClient client = client(Duration.ofMillis(300));

    assertThat(get(client)).isInstanceOf(ApiOutcome.Unreachable.class);
    assertThat(get(client)).isInstanceOf(ApiOutcome.Written.class);
    over.countDown();
  }
}
