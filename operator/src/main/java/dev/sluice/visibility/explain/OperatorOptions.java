package dev.sluice.visibility.explain;

import dev.sluice.kube.client.ClientConfigs;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that name a running operator, and who asks it. */
final class OperatorOptions {

  @Option(
      names = "--operator",
      paramLabel = "URL",
      description =
          "Where the operator answers, such as https://127.0.0.1:8082 behind a port-forward.")
  private @Nullable URI operator;

  @Option(
      names = "--operator-ca",
      paramLabel = "FILE",
      description = "The CA (PEM) that the operator's certificate is checked by.")
  private @Nullable Path operatorCa;

  @Option(
      names = "--operator-token",
      paramLabel = "FILE",
      description =
          "A token for the operator, such as kubectl create token writes; the token or the"
              + " certificate of the kubeconfig unless given.")
  private @Nullable Path operatorToken;

  /** Whether an operator is named. */
  boolean isPresent() {
    return operator != null;
  }

  /**
   * The operator that is named; empty if none is.
   *
   * @param config who asks, unless a token is given
   * @throws IOException if a file can't be read
   */
  Optional<LiveExplanation> client(Config config) throws IOException {
    return operator == null
        ? Optional.empty()
        : Optional.of(
            new LiveExplanation(
                operator,
                Optional.ofNullable(operatorCa),
                token(config),
                ClientConfigs.certificate(config)));
  }

  private Optional<String> token(Config config) throws IOException {
    if (operatorToken != null) {
      return Optional.of(Files.readString(operatorToken).strip());
    }
    return Optional.ofNullable(config.getAutoOAuthToken())
        .or(() -> Optional.ofNullable(config.getOauthToken()));
  }
}
