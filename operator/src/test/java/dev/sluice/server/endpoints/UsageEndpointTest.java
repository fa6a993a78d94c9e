package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.ledger.AttemptReader;
import dev.sluice.ledger.Ledger;
import dev.sluice.ledger.LedgerOptions;
import dev.sluice.ledger.UsageQuery;
import dev.sluice.metrics.LedgerMetrics;
import dev.sluice.server.FakeReviews;
import dev.sluice.server.endpoints.UsageEndpoint.CountedUse;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.workload.record.WorkloadCache;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may ask what was used, and what they are told. */
@EnableKubernetesMockClient
class UsageEndpointTest {

  private static final String ROOT = "/apis/visibility.kueue.x-k8s.io/v1beta2";
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir private Path directory;

  private Ledger ledger() {
    return new Ledger(
        new LedgerOptions(
            directory.resolve("ledger"),
            Optional.empty(),
            List.of(),
            Duration.ofDays(1),
            1 << 20,
            Duration.ZERO,
            "EUR"),
        new Ledger.Source("a", new WorkloadCache(), () -> true, Optional::empty, queue -> true),
        new AttemptReader(
            workload -> List.of(),
            workload -> false,
            queue -> "",
            Set.of(),
            (queue, used) -> Optional.empty()),
        () -> NOW,
        new LedgerMetrics(new PrometheusRegistry()));
  }

  private UsageEndpoint endpoint(Ledger ledger) {
    FakeReviews reviews = new FakeReviews(server);
    // a second passes between two questions, or one asks too often
    AtomicInteger seconds = new AtomicInteger();
    return new UsageEndpoint(
        reviews.users(client),
        reviews.access(client),
        ledger,
        name ->
            name.equals("team")
                ? Optional.of(new CountedUse(UsageQuery.Scope.ofNamespaces(List.of("team")), NOW))
                : Optional.empty(),
        () -> NOW.plusSeconds(seconds.incrementAndGet()),
        request -> Response.text(200, "another"));
  }

  private static Request request(String token, String method, String path, String query) {
    return new Request(
        method,
        path,
        query,
        Map.of("authorization", List.of("Bearer " + token)),
        RequestBody.of(new byte[0]));
  }

  private static String text(Response response) throws IOException {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bad    | GET    | /usage                  |                | 401 | Unauthorized",
        "poor   | GET    | /usage                  |                | 403 | cannot list resource",
        "tenant | GET    | /namespaces/team/usage  |                | 403 | in the namespace",
        "tenant | DELETE | /namespaces/team/usage  |                | 403 | cannot deletecollection"
            + " resource",
        "good   | DELETE | /usage                  |                | 405 | DELETE is not allowed",
        "good   | POST   | /namespaces/team/usage  |                | 405 | POST is not allowed",
        "good   | GET    | /usage                  | by=who        | 400 | is not known; allowed:"
            + " some of",
        "good   | GET    | /usage                  | since=soon     | 400 | is no time, such as",
        "good   | GET    | /usage                  | output=pdf     | 400 | none of table, csv",
        "good   | GET    | /usage                  | output=rows    | 400 | for one namespace only",
        "good   | GET    | /namespaces/team/usage  | output=rows&continue=x | 400 | continue: must",
        "tenant | GET    | /namespaces/team/usage  | output=rows    | 403 | in the namespace",
        "good   | GET    | /usage                  | since=2999-01-01T00:00:00Z | 400 | is not"
            + " before",
        "good   | GET    | /usage                  | budget=other   | 400 | there is no Budget",
        "good   | GET    | /namespaces/team/usage  | budget=team    | 400 | not allowed with a"
            + " namespace",
        "good   | GET    | /usage                  | budget=team&since=2999-01-01T00:00:00Z | 400 |"
            + " is not before",
        "good   | GET    | /usage                  |                | 503 | the ledger can't be"
            + " asked",
        "poor   | GET    | /clusterqueues          |                | 200 | another"
      })
  void whatIsNotAnswered(
      String token, String method, String path, String query, int status, String message)
      throws IOException {
    // never started: there is no schema
    Response response =
        endpoint(ledger()).answer(request(token, method, ROOT + path, query == null ? "" : query));

    assertThat(text(response)).contains(message);
    assertThat(response.status()).isEqualTo(status);
  }

  @Test
  void everyFormIsAnswered() throws IOException {
    try (Ledger ledger = ledger()) {
      ledger.start();
      UsageEndpoint endpoint = endpoint(ledger);
      await("a schema")
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () ->
                  assertThat(
                          endpoint
                              .answer(request("good", "GET", ROOT + "/usage", "by=queue,day"))
                              .status())
                      .isEqualTo(200));
      assertThat(
              text(
                  endpoint.answer(
                      request("good", "GET", ROOT + "/usage", "output=csv&since=2d&until=1h"))))
          .startsWith("since,until,flavor");
      assertThat(
              text(
                  endpoint.answer(
                      request("good", "GET", ROOT + "/namespaces/team/usage", "output=rows"))))
          .isEqualTo("{\"rows\":[],\"continue\":\"\"}");
      assertThat(
              text(endpoint.answer(request("good", "DELETE", ROOT + "/namespaces/team/usage", ""))))
          .contains("\"deleted\":0");
    }
  }
}
