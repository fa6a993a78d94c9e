package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectedWorker;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The clients of worker clusters. */
class RemoteClientsTest {

  /**
   * docs/configuration.md#fields: gate MultiKueueReuseClientConnectionConfigForWorkers (changes of
   * 0.20, section 3).
   */
  @Test
  void allWorkersShareOneLimitOfTheRate() throws IOException {
    try (PlayedApi one = new PlayedApi();
        PlayedApi two = new PlayedApi();
        KubernetesClient first = one.client();
        KubernetesClient second = two.client()) {
      Map<String, KubernetesClient> workers = Map.of("one", first, "two", second);
      RequestLimiter limiter = new RequestLimiter(1, 3, () -> 0);
      RemoteClients clients =
          new RemoteClients(
              name ->
                  Optional.of(
                      new ConnectedWorker(Objects.requireNonNull(workers.get(name)), reason -> {})),
              WriteGate.open(),
              limiter);

      assertThat(clients.of("one").get("api/v1/namespaces/a")).isEmpty();
      assertThat(clients.of("two").get("api/v1/namespaces/a")).isEmpty();

      assertThat(limiter.tryTake()).as("the third of three requests").isEqualTo(Duration.ZERO);
      assertThat(limiter.tryTake()).as("the fourth").isEqualTo(Duration.ofSeconds(1));
    }
  }
}
