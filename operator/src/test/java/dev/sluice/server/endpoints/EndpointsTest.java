package dev.sluice.server.endpoints;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.server.auth.RequestAuthorizer;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointsTest {

  private static Request get(String path, Map<String, String> headers) {
    Map<String, List<String>> sent = new HashMap<>();
    headers.forEach((name, value) -> sent.put(name, List.of(value)));
    return new Request("GET", path, "", sent, RequestBody.EMPTY);
  }

  private static MetricsEndpoint metrics(RequestAuthorizer authorizer) {
    return new MetricsEndpoint(
        authorizer,
        accept -> Response.text(200, "up 1"),
        token -> RequestAuthorizer.Decision.FORBIDDEN,
        "kind: Configuration");
  }

  @ParameterizedTest
  @CsvSource({
    "Bearer good, 200",
    "bearer good, 200",
    "Bearer poor, 403",
    "Bearer bad, 401",
    "Basic good, 401",
    "Bearer, 401"
  })
  void metricsAreForThoseWhoMay(String authorization, int status) {
    RequestAuthorizer authorizer =
        token ->
            switch (token) {
              case "good" -> RequestAuthorizer.Decision.ALLOWED;
              case "poor" -> RequestAuthorizer.Decision.FORBIDDEN;
              default -> RequestAuthorizer.Decision.UNAUTHENTICATED;
            };
    Response answer =
        metrics(authorizer).answer(get("/metrics", Map.of("authorization", authorization)));
    assertThat(answer.status()).isEqualTo(status);
    assertThat(new String(answer.body(), UTF_8).contains("up 1")).isEqualTo(status == 200);
  }

  @Test
  void withoutATokenNobodyIsAsked() {
    RequestAuthorizer nobody =
        token -> {
          throw new AssertionError("asked");
        };
    assertThat(metrics(nobody).answer(get("/metrics", Map.of())).status()).isEqualTo(401);
  }

  @Test
  void whenTheClusterCantBeAskedNothingIsShown() {
    RequestAuthorizer down =
        token -> {
          throw new IllegalStateException("no connection");
        };
    Response answer = metrics(down).answer(get("/metrics", Map.of("authorization", "Bearer good")));
    assertThat(answer.status()).isEqualTo(401);
  }

  @ParameterizedTest
  @CsvSource({"good, 200, 403", "reader, 403, 200", "bad, 401, 401"})
  void theConfigurationIsForThoseWhoMayReadItsPath(String token, int metrics, int configuration) {
    RequestAuthorizer toMetrics = authorizer("good", "reader");
    RequestAuthorizer toConfiguration = authorizer("reader", "good");
    MetricsEndpoint endpoint =
        new MetricsEndpoint(
            toMetrics,
            accept -> Response.text(200, "up 1"),
            toConfiguration,
            "kind: Configuration\n");
    Map<String, String> header = Map.of("authorization", "Bearer " + token);

    Response answer = endpoint.answer(get("/configz", header));

    assertThat(answer.status()).isEqualTo(configuration);
    assertThat(new String(answer.body(), UTF_8).equals("kind: Configuration\n"))
        .isEqualTo(configuration == 200);
    assertThat(endpoint.answer(get("/metrics", header)).status()).isEqualTo(metrics);
  }

  private static RequestAuthorizer authorizer(String allowed, String known) {
    return token ->
        token.equals(allowed)
            ? RequestAuthorizer.Decision.ALLOWED
            : token.equals(known)
                ? RequestAuthorizer.Decision.FORBIDDEN
                : RequestAuthorizer.Decision.UNAUTHENTICATED;
  }

  @Test
  void livenessAndReadinessNameWhatIsMissing() {
    AtomicBoolean serving = new AtomicBoolean();
    AtomicBoolean watching = new AtomicBoolean(true);
    HealthEndpoint health =
        new HealthEndpoint(
            "healthz",
            "readyz",
            List.of(new HealthEndpoint.Check("watches", watching::get)),
            List.of(
                new HealthEndpoint.Check("certificates", () -> true),
                new HealthEndpoint.Check("webhooks", serving::get)));

    assertThat(health.answer(get("/healthz", Map.of())).status()).isEqualTo(200);
    Response notYet = health.answer(get("/readyz", Map.of()));
    assertThat(notYet.status()).isEqualTo(503);
    assertThat(new String(notYet.body(), UTF_8)).contains("webhooks").doesNotContain("certif");

    watching.set(false);
    assertThat(health.answer(get("/healthz", Map.of())).status()).isEqualTo(503);

    serving.set(true);
    assertThat(health.answer(get("/readyz", Map.of())).status()).isEqualTo(200);
    assertThat(health.answer(get("/other", Map.of())).status()).isEqualTo(404);
  }
}
