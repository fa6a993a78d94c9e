package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who this process is, as the API server says. */
class OwnUserTest {

  private static final String ANSWER =
      """
      {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
       "status": {"userInfo": {"username": "operator"}}}
      """;

  @Test
  void aStartAsksAgainAsLongAsThatMayHelp() throws IOException {
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client()) {
      AtomicInteger requests = new AtomicInteger();
      api.play(
          request ->
              requests.incrementAndGet() == 1
                  ? new PlayedApi.Answer(503, "{}")
                  : new PlayedApi.Answer(201, ANSWER));
      assertThat(OwnUser.await(client)).contains("operator");
      assertThat(requests).hasValue(2);

      requests.set(10);
      api.play(
          request -> {
            requests.incrementAndGet();
            return new PlayedApi.Answer(403, "{}");
          });
      assertThat(OwnUser.await(client)).isEmpty();
      assertThat(requests.get()).as("refused, and once more for the log").isLessThan(13);
    }
  }
}
