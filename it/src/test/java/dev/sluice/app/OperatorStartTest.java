package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.install.Installer;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.PlayedApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an operator does to a cluster before it can serve. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OperatorStartTest {

  private static final String OWN_API = "/apis/kueue.x-k8s.io/v1beta2";

  private static final String DELETED_FLAVOR =
      """
      {"metadata": {"resourceVersion": "5"}, "items": [{
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
        "metadata": {"name": "old", "uid": "uid-1", "resourceVersion": "4",
          "deletionTimestamp": "2026-03-01T12:00:00Z",
          "finalizers": ["kueue.x-k8s.io/resource-in-use"]},
        "spec": {}}]}
      """;

  @TempDir private Path directory;

  private OperatorRunner.Options options(PlayedApi api, OperatorSettings settings)
      throws IOException {
    return options(api, settings.yaml());
  }

  /** A played watch is never healthy, and the start waits for it for as long as it is told to. */
  private OperatorRunner.Options options(PlayedApi api, String configuration) throws IOException {
    String yaml = configuration + "\ncontroller: {cacheSyncTimeout: 10000000000}\n";
    Path kubeconfig = directory.resolve("kubeconfig");
    Files.writeString(
        kubeconfig,
        """
        apiVersion: v1
        kind: Config
        clusters:
        - name: played
          cluster: {server: "%s"}
        contexts:
        - name: played
          context: {cluster: played, user: nobody}
        current-context: played
        users:
        - name: nobody
          user: {}
        """
            .formatted(api.address()));
    Path config = directory.resolve("config.yaml");
    Files.writeString(config, yaml);
    return new OperatorRunner.Options(
        Optional.of(kubeconfig),
        Optional.of(config),
        Optional.empty(),
        false,
        true,
        "127.0.0.1",
        Optional.empty(),
        Path.of("none"));
  }

  private void assertNothingIsWritten(OperatorSettings settings, int taken) throws IOException {
    try (PlayedApi api = new PlayedApi();
        ServerSocket other = new ServerSocket(taken, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      OperatorRunner.Options options = options(api, settings);

      assertThatThrownBy(() -> OperatorRunner.start(options, reason -> {}))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("can't listen on port " + other.getLocalPort());

      for (String method : new String[] {"POST", "PUT", "PATCH", "DELETE"}) {
        assertThat(api.asked(method, "")).isEmpty();
      }
    }
  }

  /**
   * The API server may ask this process to convert what it lists of the own API; the rest isn't
   * delayed by that.
   */
  @Test
  void theOwnApiIsListedWhenTheCertificateWasPublishedAndTheRestMeanwhile() throws Exception {
    Set<String> asked = ConcurrentHashMap.newKeySet();
    List<String> tooEarly = new CopyOnWriteArrayList<>();
    CountDownLatch meanwhile = new CountDownLatch(2);
    CountDownLatch published = new CountDownLatch(1);
    CountDownLatch workloads = new CountDownLatch(1);
    try (PlayedApi api = new PlayedApi()) {
      api.play(
          request -> {
            String path = request.path();
            boolean first = asked.add(path);
            if (path.endsWith("/secrets/kueue-webhook-server-cert")) {
              await(meanwhile);
              published.countDown();
              return new PlayedApi.Answer(403, "{}");
            }
            if (first && (path.endsWith("/namespaces") || path.endsWith("/batch/v1/jobs"))) {
              meanwhile.countDown();
            }
            if (path.startsWith(OWN_API + "/")) {
              if (published.getCount() > 0) {
                tooEarly.add(path);
              }
              if (path.endsWith("/workloads")) {
                workloads.countDown();
              } else {
                await(workloads);
              }
            }
            return answer(path);
          });
      OperatorRunner.Options options = options(api, OperatorSettings.onFreePorts(new Random()));

      OperatorRunner.start(installed(options), reason -> {}).close();
    } catch (IOException e) {
      // A played watch isn't healthy, so that the start may fail when everything was listed.
      assertThat(e).hasMessageContaining("all kinds could not be listed");
    }

    assertThat(meanwhile.getCount()).isZero();
    assertThat(tooEarly).isEmpty();
    assertThat(asked).contains(OWN_API + "/workloads", OWN_API + "/clusterqueues");
  }

  /** What isn't listed yet may use the flavor. */
  @Test
  void withoutElectionNothingIsReleasedBeforeAllIsListed() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    try (PlayedApi api = new PlayedApi()) {
      api.play(
          request -> {
            String path = request.path();
            if (request.method().equals("PATCH") && path.endsWith("/resourceflavors/old")) {
              released.countDown();
            } else if (path.endsWith("/resourceflavors")) {
              return new PlayedApi.Answer(200, DELETED_FLAVOR);
            } else if (path.endsWith("/clusterqueues")) {
              awaitBriefly(released);
            }
            return answer(path);
          });
      String settings = OperatorSettings.onFreePorts(new Random()).yaml();
      OperatorRunner.Options options =
          options(api, settings.replace("leaderElect: true", "leaderElect: false"));

      OperatorRunner.start(installed(options), reason -> {}).close();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("all kinds could not be listed");
    }

    assertThat(released.getCount()).isOne();
  }

  private static OperatorRunner.Options installed(OperatorRunner.Options options) {
    return new OperatorRunner.Options(
        options.kubeconfig(),
        options.config(),
        options.featureGates(),
        false,
        false,
        options.webhookHost(),
        options.webhookClientAuthority(),
        options.jobKinds());
  }

  private static PlayedApi.Answer answer(String path) {
    if (path.equals(OWN_API)) {
      return new PlayedApi.Answer(
          200,
          Installer.PLURALS.stream()
              .map("{\"name\": \"%s\"}"::formatted)
              .collect(Collectors.joining(", ", "{\"resources\": [", "]}")));
    }
    if (path.contains("webhookconfigurations") || path.contains("/namespaces/")) {
      return new PlayedApi.Answer(403, "{}");
    }
    return new PlayedApi.Answer(200, "{\"metadata\": {\"resourceVersion\": \"5\"}, \"items\": []}");
  }

  private static void awaitBriefly(CountDownLatch latch) {
    try {
      var unused = latch.await(2, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(40, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anOperatorWhosePortsAreTakenWritesNothing() throws IOException {
    OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

    assertNothingIsWritten(settings, settings.webhookPort());
    assertNothingIsWritten(settings, settings.visibilityPort());
  }
}
