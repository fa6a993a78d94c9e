package dev.sluice.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.Configuration.TlsVersion;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.server.Fakes;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.server.endpoints.WarmUp;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.HttpService.HttpLimits;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpServiceTest {

  private static final BindAddress LOOPBACK = new BindAddress("127.0.0.1", 0);

  private final ReloadableKeyManager keys = new ReloadableKeyManager();

  private HttpService tls(TlsSettings settings, HttpHandler httpHandler) throws Exception {
    return HttpService.tls(LOOPBACK, keys.context(), settings, httpHandler, Duration.ZERO);
  }

  private static HttpResponse<String> send(int port, String method, String path, String body)
      throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
              .method(method, HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  /**
   * The first line of the answer to a request that announces a body of this many bytes and sends
   * none of it: a server that refuses by the announced length answers without waiting for the body.
   */
  private static String statusLine(int port, long announced) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", port);
        BufferedReader answer =
            new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8))) {
      String head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n";
      socket.getOutputStream().write(head.formatted(announced).getBytes(UTF_8));
      return answer.readLine();
    }
  }

  private static X509Certificate handshake(int port, String protocol, String... groups)
      throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setProtocols(new String[] {protocol});
      if (groups.length > 0) {
        parameters.setNamedGroups(groups);
      }
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }

  @Test
  void handshakesAfterASwapShowTheNewCertificate() throws Exception {
    CertificateWithKey first = Fakes.selfMade("first.example");
    CertificateWithKey second = Fakes.selfMade("second.example");
    keys.use(first);
    try (HttpService server = tls(TlsSettings.STRICT, request -> Response.text(200, "ok"))) {
      assertThat(handshake(server.port(), "TLSv1.3")).isEqualTo(first.certificate());

      keys.use(second);

      assertThat(handshake(server.port(), "TLSv1.3")).isEqualTo(second.certificate());
    }
  }

  @Test
  void theOldProtocolIsRefusedUnlessConfigured() throws Exception {
    keys.use(Fakes.selfMade("a.example"));
    TlsSettings lenient = new TlsSettings(TlsVersion.TLS_1_2, List.of(), List.of());
    try (HttpService strict = tls(TlsSettings.STRICT, request -> Response.text(200, "ok"));
        HttpService older = tls(lenient, request -> Response.text(200, "ok"))) {
      assertThatThrownBy(() -> handshake(strict.port(), "TLSv1.2"))
          .isInstanceOf(SSLException.class);
      assertThat(handshake(older.port(), "TLSv1.2").getIssuerX500Principal().getName())
          .contains("kueue-ca");
      assertThat(handshake(older.port(), "TLSv1.3")).isNotNull();
    }
  }

  @Test
  void ciphersAndCurvesAreTakenByTheirNames() throws Exception {
    keys.use(Fakes.selfMade("a.example"));
    TlsSettings chosen =
        TlsSettings.of(
            new Configuration.Tls(
                Optional.empty(),
                List.of("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"),
                List.of(29, 23)));
    try (HttpService server = tls(chosen, request -> Response.text(200, "ok"))) {
      assertThat(handshake(server.port(), "TLSv1.2")).isNotNull();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "23, secp256r1, secp384r1",
    "24, secp384r1, x25519",
    "25, secp521r1, x25519",
    "29, x25519, secp256r1",
    "30, x448, x25519"
  })
  void onlyChosenGroupsAreSpoken(int number, String chosen, String other) throws Exception {
    keys.use(Fakes.selfMade("a.example"));
    TlsSettings one = new TlsSettings(TlsVersion.TLS_1_3, List.of(), List.of(number));
    try (HttpService server = tls(one, request -> Response.text(200, "ok"))) {
      assertThat(handshake(server.port(), "TLSv1.3", chosen)).isNotNull();
      assertThatThrownBy(() -> handshake(server.port(), "TLSv1.3", other))
          .isInstanceOf(SSLException.class);
    }
  }

  @Test
  void aCipherThatDoesntExistIsNamed() {
    TlsSettings wrong = new TlsSettings(TlsVersion.TLS_1_2, List.of("TLS_NONE"), List.of());
    assertThatThrownBy(() -> tls(wrong, request -> Response.text(200, "ok")))
        .hasMessageContaining("tls.cipherSuites")
        .hasMessageContaining("\"TLS_NONE\"");
  }

  @Test
  void aCurveThatDoesntExistIsNamed() {
    TlsSettings wrong = new TlsSettings(TlsVersion.TLS_1_3, List.of(), List.of(7));
    assertThatThrownBy(() -> tls(wrong, request -> Response.text(200, "ok")))
        .hasMessageContaining("tls.curvePreferences: 7 is not supported")
        .hasMessageContaining("29");
  }

  @Test
  void givesTheRequestToTheEndpointAndItsAnswerBack() throws Exception {
    HttpHandler echo =
        request ->
            Response.text(
                201,
                request.method()
                    + " "
                    + request.path()
                    + "?"
                    + request.query()
                    + " "
                    + new String(request.requestBody().bytes(), UTF_8));
    try (HttpService server = HttpService.plain(LOOPBACK, echo, Duration.ZERO)) {
      HttpResponse<String> answer = send(server.port(), "POST", "/a?timeout=10s", "hello");

      assertThat(answer.statusCode()).isEqualTo(201);
      assertThat(answer.body()).isEqualTo("POST /a?timeout=10s hello\n");
    }
  }

  @Test
  void aBugBecomesAnAnswerWithoutDetail() throws Exception {
    HttpHandler buggy =
        request -> {
          throw new IllegalStateException("secret detail");
        };
    try (HttpService server = HttpService.plain(LOOPBACK, buggy, Duration.ZERO)) {
      HttpResponse<String> answer = send(server.port(), "GET", "/", "");

      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(answer.body()).doesNotContain("secret detail");
    }
  }

  @Test
  void aBodyBeyondTheLimitIsRefused() throws Exception {
    try (HttpService server =
        HttpService.plain(LOOPBACK, request -> Response.text(200, "ok"), Duration.ZERO)) {
      assertThat(statusLine(server.port(), HttpHandler.USUAL_BODY + 1)).contains(" 413 ");
    }
  }

  private static String review(String object) {
    return """
    {"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1",\
    "kind":{"group":"","version":"v1","kind":"Pod"},"namespace":"team","operation":"CREATE",\
    "userInfo":{"username":"ann"},"object":%s}}\
    """
        .formatted(object);
  }

  /** The reasons that were heard by whoever counts reviews that are given up. */
  private final List<String> givenUp = new CopyOnWriteArrayList<>();

  private WebhookEndpoint webhooks() {
    return new WebhookEndpoint(
        new WebhookRouter(Map.of("/mutate--v1-pod", request -> AdmissionResult.allowed())),
        new ConversionWebhook(new HubConverter()),
        false,
        (path, reason) -> givenUp.add(reason));
  }

  /** What is no answer is ignored where the registration ignores failures. */
  @ParameterizedTest
  @CsvSource({
    "size, 413, RequestEntityTooLarge, Size",
    "depth, 400, BadRequest, Unreadable",
    "values, 400, BadRequest, Unreadable",
    "fine, 0, '', ''"
  })
  void aReviewThatIsNotTakenIsRefusedInItsAnswer(
      String object, int code, String reason, String heard) throws Exception {
    String text =
        switch (object) {
          case "size" -> '"' + "<".repeat(HttpHandler.USUAL_BODY) + '"';
          case "depth" -> "[".repeat(300) + "]".repeat(300);
          case "values" -> "[" + "0,".repeat(1_000_000) + "0]";
          default -> "{}";
        };
    try (HttpService server = HttpService.plain(LOOPBACK, webhooks(), Duration.ZERO)) {
      HttpResponse<String> answer = send(server.port(), "POST", "/mutate--v1-pod", review(text));

      assertThat(answer.statusCode()).isEqualTo(200);
      JsonNode response = new ObjectMapper().readTree(answer.body()).path("response");
      assertThat(response.path("uid").asText()).isEqualTo("u-1");
      assertThat(response.path("allowed").asBoolean()).isEqualTo(code == 0);
      assertThat(response.at("/status/code").asInt()).isEqualTo(code);
      assertThat(response.at("/status/reason").asText()).isEqualTo(reason);
      assertThat(String.join("", givenUp)).isEqualTo(heard);
    }
  }

  @Test
  void aReviewThatIsTooLargeIsRefusedBeforeItsEnd() throws Exception {
    byte[] body = review('"' + "<".repeat(HttpHandler.USUAL_BODY) + '"').getBytes(UTF_8);
    String head = "POST /mutate--v1-pod HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n";
    try (HttpService server = HttpService.plain(LOOPBACK, webhooks(), Duration.ZERO);
        Socket socket = new Socket("127.0.0.1", server.port());
        BufferedReader answer =
            new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8))) {
      OutputStream out = socket.getOutputStream();
      out.write(head.formatted(body.length).getBytes(UTF_8));
      out.write(body, 0, body.length / 2);

      assertThat(answer.readLine()).contains(" 200 ");

      // The connection stays open for the rest, so that nobody loses the answer.
      out.write(body, body.length / 2, body.length - body.length / 2);
      assertThat(answer.lines().toList()).last().asString().contains("\"code\":413");
    }
  }

  @Test
  void aReviewThatFindsNoRoomIsRefusedInItsAnswer() throws Exception {
    HttpLimits limits =
        new HttpLimits(1000, 1_000_000, 8, Duration.ofSeconds(20), Duration.ofMillis(50));
    try (HttpService server = HttpService.plain(LOOPBACK, webhooks(), limits, Duration.ZERO)) {
      HttpResponse<String> answer =
          send(server.port(), "POST", "/mutate--v1-pod", review('"' + "x".repeat(1000) + '"'));

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("\"allowed\":false").contains("\"code\":503");
      assertThat(givenUp).containsExactly("Overload");
    }
  }

  @Test
  void aBodyThatDoesntArriveInTimeEndsTheConnection() throws Exception {
    HttpLimits limits =
        new HttpLimits(1000, 1_000_000, 8, Duration.ofMillis(200), Duration.ofSeconds(8));
    HttpHandler unreached = request -> Response.text(200, "ok");
    try (HttpService server = HttpService.plain(LOOPBACK, unreached, limits, Duration.ZERO);
        Socket socket = new Socket("127.0.0.1", server.port())) {
      socket
          .getOutputStream()
          .write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf".getBytes(UTF_8));

      assertThat(socket.getInputStream().readAllBytes()).isEmpty();
      assertThat(send(server.port(), "POST", "/", "x".repeat(1000)).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void whatFindsNoRoomIsToldToComeBack() throws Exception {
    HttpLimits limits =
        new HttpLimits(1000, 1_000_000, 8, Duration.ofSeconds(20), Duration.ofMillis(50));
    HttpHandler ok = request -> Response.text(200, "ok");
    try (HttpService server = HttpService.plain(LOOPBACK, ok, limits, Duration.ZERO)) {
      HttpResponse<String> answer = send(server.port(), "POST", "/", "x".repeat(1001));

      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("Retry-After")).contains("1");
    }
  }

  @Test
  void whatTakesTooMuchMemoryToAnswerIsRefused() throws Exception {
    HttpHandler costly =
        new HttpHandler() {
          @Override
          public Response answer(Request request) {
            throw new AssertionError("was answered");
          }

          @Override
          public long cost(Request request) {
            return Long.MAX_VALUE / 2;
          }
        };
    try (HttpService server = HttpService.plain(LOOPBACK, costly, Duration.ZERO)) {
      assertThat(send(server.port(), "POST", "/", "x").statusCode()).isEqualTo(413);
    }
  }

  @Test
  void aClosedServerTakesNoMoreRequests() throws Exception {
    HttpService server =
        HttpService.plain(LOOPBACK, request -> Response.text(200, "ok"), Duration.ofSeconds(1));
    int port = server.port();
    server.close();

    assertThatThrownBy(() -> send(port, "GET", "/", "")).isInstanceOf(IOException.class);
  }

  @Test
  void theWarmUpReachesTheServerOverTls() throws Exception {
    keys.use(Fakes.selfMade("a.example"));
    int[] calls = {0};
    HttpHandler counting =
        request -> {
          synchronized (calls) {
            calls[0]++;
          }
          return Response.json("{}".getBytes(UTF_8));
        };
    try (HttpService server = tls(TlsSettings.STRICT, counting)) {
      new WarmUp(keys, InstantSource.system())
          .run(
              "127.0.0.1",
              server.port(),
              List.of(
                  new WarmUp.Sample("/a", new byte[] {1}), new WarmUp.Sample("/b", new byte[0])),
              new WarmUp.Limits(3, Duration.ofMinutes(1), () -> false));
    }
    assertThat(calls[0]).isEqualTo(6);
  }

  @Test
  void theWarmUpEndsWhenItIsEnough() throws Exception {
    keys.use(Fakes.selfMade("a.example"));
    AtomicInteger calls = new AtomicInteger();
    HttpHandler counting =
        request -> {
          calls.incrementAndGet();
          return Response.text(200, "ok");
        };
    try (HttpService server = tls(TlsSettings.STRICT, counting)) {
      new WarmUp(keys, InstantSource.system())
          .run(
              "127.0.0.1",
              server.port(),
              List.of(new WarmUp.Sample("/a", new byte[0]), new WarmUp.Sample("/b", new byte[0])),
              new WarmUp.Limits(9, Duration.ofMinutes(1), () -> calls.get() >= 3));
    }
    assertThat(calls).hasValue(4);
  }

  @Test
  void theWarmUpFailsWhenAnotherAnswers() throws Exception {
    keys.use(Fakes.selfMade("a.example"));
    ReloadableKeyManager others = new ReloadableKeyManager();
    others.use(Fakes.selfMade("a.example"));
    try (HttpService server = tls(TlsSettings.STRICT, request -> Response.text(200, "ok"))) {
      assertThatThrownBy(
              () ->
                  new WarmUp(others, InstantSource.system())
                      .run(
                          "127.0.0.1",
                          server.port(),
                          List.of(new WarmUp.Sample("/a", new byte[0])),
                          new WarmUp.Limits(1, Duration.ZERO, () -> false)))
          .isInstanceOf(IOException.class);
    }
  }

  private static final class TrustAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
