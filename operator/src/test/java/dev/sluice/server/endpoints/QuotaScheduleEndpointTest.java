package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.server.FakeReviews;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may ask when quota is at another factor, and what they are told. */
@EnableKubernetesMockClient
class QuotaScheduleEndpointTest {

  private static final String PATH = "/apis/visibility.kueue.x-k8s.io/v1beta2/quotaschedules";
  private static final Instant NOW = Instant.parse("2026-01-05T10:00:00Z"); // a Monday

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private Response answer(String token, String method, String path, String query) {
    FakeReviews reviews = new FakeReviews(server);
    // a second passes between two questions, or one asks too often
    AtomicInteger seconds = new AtomicInteger();
    Map<String, List<Interval>> schedules =
        Map.of("batch", QuotaSchedule.parse("Mon 08:00-18:00 0.5").upcoming(NOW));
    return new QuotaScheduleEndpoint(
            reviews.users(client),
            reviews.access(client),
            () -> new TreeMap<>(schedules),
            () -> NOW.plusSeconds(seconds.incrementAndGet()),
            request -> Response.text(200, "another"))
        .answer(
            new Request(
                method,
                path,
                query,
                Map.of("authorization", List.of("Bearer " + token)),
                RequestBody.of(new byte[0])));
  }

  private static String text(Response response) throws IOException {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "bad,  GET,  '',         401, Unauthorized",
    "poor, GET,  '',         403, cannot list resource",
    "good, POST, '',         405, use GET",
    "good, GET,  output=pdf, 400, it must be json or text"
  })
  void whatIsNotAnswered(String token, String method, String query, int status, String message)
      throws IOException {
    Response response = answer(token, method, PATH, query);
    assertThat(text(response)).contains(message);
    assertThat(response.status()).isEqualTo(status);
  }

  @Test
  void bothFormsAreAnswered() throws IOException {
    assertThat(text(answer("good", "GET", PATH, "output=text")))
        .isEqualTo(
            """
            2026-01-05T08:00:00Z\t2026-01-05T18:00:00Z\tCurrent\tquota-schedule\tbatch\teverybody\tClusterQueue batch: factor 0.5
            2026-01-12T08:00:00Z\t2026-01-12T18:00:00Z\tUpcoming\tquota-schedule\tbatch\teverybody\tClusterQueue batch: factor 0.5
            """);
    assertThat(text(answer("good", "GET", PATH, "")))
        .contains(
            """
            {"clusterQueue":"batch","start":"2026-01-05T08:00:00Z","end":"2026-01-05T18:00:00Z","factor":"0.5"}\
            """);
    assertThat(text(answer("poor", "GET", PATH + "/batch", ""))).isEqualTo("another\n");
  }
}
