package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.controlplane.ApiClients;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * The API server as the benchmark uses it: requests made by hand, each sent once, answered
 * asynchronously, and counted as the server counts them.
 */
final class BenchmarkApiClient implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 120;
  private static final int ATTEMPTS = 4;
  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final String JSON = "application/json";

  private final ObjectMapper mapper = new ObjectMapper();
  private final KubernetesClient client;
  private final HttpClient http;
  private final String base;
  private final Map<RequestKey, LongAdder> sent = new ConcurrentHashMap<>();

  /** An answer of the server, whatever it says. */
  record Answer(int code, byte[] body) {

    boolean successful() {
      return code >= 200 && code < 300;
    }

    /** Whether the same request may succeed later. */
    boolean worthRepeating() {
      return code == 429 || code >= 500;
    }

    String text() {
      return "HTTP " + code + " " + new String(body, StandardCharsets.UTF_8).strip();
    }
  }

  BenchmarkApiClient(Path kubeconfig) {
    this.client = ApiClients.once(kubeconfig);
    this.http = client.getHttpClient();
    this.base = client.getMasterUrl().toString().replaceAll("/$", "");
  }

  /** Sends a body; the key is what the server counts it as. */
  CompletableFuture<Answer> send(RequestKey key, String path, String body) {
    sent.computeIfAbsent(key, each -> new LongAdder()).increment();
    String method = key.verb().equals("DELETECOLLECTION") ? "DELETE" : key.verb();
    String type = method.equals("PATCH") ? "application/merge-patch+json" : JSON;
    return answer(builder(path).method(method, type, body));
  }

  private CompletableFuture<Answer> answer(HttpRequest.Builder request) {
    return http.sendAsync(request.timeout(PATIENCE_SECONDS, TimeUnit.SECONDS).build(), byte[].class)
        .thenApply(response -> new Answer(response.code(), response.body()));
  }

  private HttpRequest.Builder builder(String path) {
    return http.newHttpRequestBuilder().uri(base + path).header("Accept", JSON);
  }

  /** The answer to a question, asked anew when a connection that had been idle was closed. */
  private Answer asked(Supplier<HttpRequest.Builder> question) {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
      try {
        return await(answer(question.get()));
      } catch (BenchException e) {
        pause(PAUSE);
      }
    }
    return await(answer(question.get()));
  }

  /** The object at a path, or the list; a missing node when there is none. */
  JsonNode read(String path) {
    Answer answer = asked(() -> builder(path));
    if (answer.code() == 404) {
      return mapper.missingNode();
    }
    if (!answer.successful()) {
      throw new BenchException("GET " + path + ": " + answer.text());
    }
    return tree(answer.body());
  }

  /** The API server's own metrics. */
  ServerReading metrics() {
    Answer answer = asked(() -> http.newHttpRequestBuilder().uri(base + "/metrics"));
    if (!answer.successful()) {
      throw new BenchException("GET /metrics of the API server: " + answer.text());
    }
    return ServerReading.parse(new String(answer.body(), StandardCharsets.UTF_8));
  }

  /** Opens a stream of lines that the server ends after a while. */
  InputStream watch(String path) throws IOException {
    HttpResponse<InputStream> response =
        await(http.sendAsync(builder(path).forStreaming().build(), InputStream.class));
    if (!response.isSuccessful()) {
      try (InputStream body = response.body()) {
        throw new IOException(
            "HTTP "
                + response.code()
                + " "
                + new String(body.readNBytes(2000), StandardCharsets.UTF_8));
      }
    }
    return response.body();
  }

  JsonNode tree(byte[] json) {
    try {
      return mapper.readTree(json);
    } catch (IOException e) {
      throw new BenchException("the API server's answer is no JSON: " + e.getMessage(), e);
    }
  }

  /** Waits for an answer. */
  static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      throw new BenchException("the API server can't be reached: " + e.getCause(), e);
    }
  }

  /** Does nothing for a while. */
  static void pause(Duration pause) {
    await(
        CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS)));
  }

  /** What was sent so far. */
  Map<RequestKey, Long> sent() {
    Map<RequestKey, Long> counts = new TreeMap<>();
    sent.forEach((key, count) -> counts.put(key, count.sum()));
    return counts;
  }

  @Override
  public void close() {
    client.close();
  }
}
