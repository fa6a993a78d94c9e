package dev.sluice.kube.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ClientConfigs.ClusterAccess;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Reads over one plain connection, for commands that somebody waits for: to load the client library
 * and its HTTP client takes longer than all requests of such a command. An answer that is neither
 * the object nor a refusal is left to the client library, which repeats requests and says what is
 * wrong.
 */
public final class DirectApiReader implements ApiReader {

  private static final int TIMEOUT = (int) Duration.ofSeconds(10).toMillis();
  private static final int REFUSED = 400;
  private static final int TOO_MANY = 429;
  private static final int FAILED = 500;

  private final ClusterAccess access;
  private final Optional<SSLSocketFactory> sockets;
  private final Supplier<ApiReader> otherwise;
  private @Nullable ApiReader other;

  /**
   * Creates a reader; nothing is sent yet.
   *
   * @param otherwise what reads when this reader gets no clear answer
   * @throws GeneralSecurityException when a certificate or a key can't be used
   */
  public DirectApiReader(ClusterAccess access, Supplier<ApiReader> otherwise)
      throws GeneralSecurityException {
    this.access = access;
    this.sockets =
        "https".equals(access.server().getScheme())
            ? Optional.of(access.tls().getSocketFactory())
            : Optional.empty();
    this.otherwise = otherwise;
  }

  @Override
  public String get(String path) {
    return other == null ? direct(path).orElseGet(() -> other().get(path)) : other.get(path);
  }

  private ApiReader other() {
    ApiReader made = otherwise.get();
    other = made;
    return made;
  }

  private Optional<String> direct(String path) {
    try {
      HttpURLConnection connection = open(path);
      int code = connection.getResponseCode();
      if (code == HttpURLConnection.HTTP_OK) {
        try (InputStream body = connection.getInputStream()) {
          return Optional.of(text(body));
        }
      }
      if (code >= REFUSED && code < FAILED && code != TOO_MANY) {
        throw refusal(code, connection);
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private HttpURLConnection open(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) access.server().resolve(path).toURL().openConnection();
    connection.setConnectTimeout(TIMEOUT);
    connection.setReadTimeout(TIMEOUT);
    connection.setInstanceFollowRedirects(false);
    connection.setRequestProperty("Accept", "application/json");
    access
        .token()
        .ifPresent(token -> connection.setRequestProperty("Authorization", "Bearer " + token));
    if (connection instanceof HttpsURLConnection https) {
      sockets.ifPresent(https::setSSLSocketFactory);
    }
    return connection;
  }

  private static KubernetesClientException refusal(int code, HttpURLConnection connection)
      throws IOException {
    String said = "";
    try (InputStream body = connection.getErrorStream()) {
      said = body == null ? "" : JsonMappers.JSON.readTree(text(body)).path("message").asText("");
    } catch (JsonProcessingException notJson) {
      // Something before the API server answered; the code says enough.
    }
    return new KubernetesClientException(
        said, code, new StatusBuilder().withCode(code).withMessage(said).build());
  }

  private static String text(InputStream body) throws IOException {
    return new String(body.readAllBytes(), StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    if (other != null) {
      other.close();
    }
  }
}
