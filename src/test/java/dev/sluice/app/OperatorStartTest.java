package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.PlayedApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an operator does to a cluster before it can serve. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OperatorStartTest {

  @TempDir private Path directory;

  private OperatorRunner.Options options(PlayedApi api, OperatorSettings settings)
      throws IOException {
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
    Files.writeString(config, settings.yaml());
    return new OperatorRunner.Options(
        Optional.of(kubeconfig),
        Optional.of(config),
        Optional.empty(),
        true,
        "127.0.0.1",
        Optional.empty());
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

  @Test
  void anOperatorWhosePortsAreTakenWritesNothing() throws IOException {
    OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

    assertNothingIsWritten(settings, settings.webhookPort());
    assertNothingIsWritten(settings, settings.visibilityPort());
  }
}
