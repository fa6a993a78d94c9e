package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.kube.client.ClientConfigs.ClusterAccess;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read directly, and what is left to the client library. */
class DirectApiReaderTest {

  private final List<String> authorizations = new ArrayList<>();
  private final List<String> others = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // set before each test
  private HttpServer server;

  private volatile int code = 200;
  private volatile String body = "{}";

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          authorizations.add(exchange.getRequestHeaders().getFirst("Authorization"));
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(code, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private ApiReader reader() throws GeneralSecurityException {
    return new DirectApiReader(
        new ClusterAccess(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
            Optional.empty(),
            Optional.empty(),
            Optional.of("abc"),
            Optional.empty()),
        () ->
            new ApiReader() {
              @Override
              public String get(String path) {
                others.add(path);
                return "other";
              }

              @Override
              public void close() {
                others.add("closed");
              }
            });
  }

  @Test
  void anObjectIsReadWithTheTokenAndWithoutTheClientLibrary() throws Exception {
    body = "{\"a\": \"ü\"}";
    try (ApiReader reader = reader()) {
      assertThat(reader.get("/apis/a")).isEqualTo(body);
    }

    assertThat(authorizations).containsExactly("Bearer abc");
    assertThat(others).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"403, you may not", "404, it does not exist", "401, Unauthorized"})
  void aRefusalIsSaidAsTheClientLibrarySaysIt(int refusal, String message) throws Exception {
    code = refusal;
    body = "{\"kind\": \"Status\", \"message\": \"" + message + "\"}";
    try (ApiReader reader = reader()) {
      assertThatThrownBy(() -> reader.get("/apis/a"))
          .isInstanceOfSatisfying(
              KubernetesClientException.class,
              e -> {
                assertThat(e.getCode()).isEqualTo(refusal);
                assertThat(e.getStatus().getMessage()).isEqualTo(message);
              });
    }
    assertThat(others).isEmpty();
  }

  @Test
  void aRefusalThatIsNoStatusHasItsCode() throws Exception {
    code = 403;
    body = "<html>";
    try (ApiReader reader = reader()) {
      assertThatThrownBy(() -> reader.get("/apis/a"))
          .isInstanceOfSatisfying(
              KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {302, 429, 500, 503})
  void anUnclearAnswerIsLeftToTheClientLibrary(int answer) throws Exception {
    code = answer;
    try (ApiReader reader = reader()) {
      assertThat(reader.get("/apis/a")).isEqualTo("other");
      assertThat(reader.get("/apis/b")).isEqualTo("other");
    }

    assertThat(others).containsExactly("/apis/a", "/apis/b", "closed");
    assertThat(authorizations).hasSize(1);
  }

  @Test
  void noAnswerIsLeftToTheClientLibrary() throws Exception {
    ApiReader reader = reader();
    server.stop(0);

    assertThat(reader.get("/apis/a")).isEqualTo("other");
  }
}
