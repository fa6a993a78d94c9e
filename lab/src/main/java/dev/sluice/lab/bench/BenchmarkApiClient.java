package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * API client of the benchmark: sends each request once, asynchronously, and counts requests as the
 * server does.
 */
final class BenchmarkApiClient implements AutoCloseable {

  private static final long TIMEOUT_SECONDS = 120;
  private static final int ATTEMPTS = 4;
  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final String JSON = "application/json";

  private final KubernetesClient client;
  private final HttpClient http;
  private final String base;
  private final Map<RequestKey, LongAdder> sent = new ConcurrentHashMap<>();

  /** A response of the server, with any status. */
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

  /** Sends a body; {@code key} is the request's key in the server's metrics. */
  CompletableFuture<Answer> send(RequestKey key, String path, String body) {
    sent.computeIfAbsent(key, each -> new LongAdder()).increment();
    String method = key.verb().equals("DELETECOLLECTION") ? "DELETE" : key.verb();
    String type = method.equals("PATCH") ? "application/merge-patch+json" : JSON;
    return answer(builder(path).method(method, type, body));
  }

  private CompletableFuture<Answer> answer(HttpRequest.Builder request) {
    return http.sendAsync(request.timeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).build(), byte[].class)
        .thenApply(response -> new Answer(response.code(), response.body()));
  }

  private HttpRequest.Builder builder(String path) {
    return http.newHttpRequestBuilder().uri(base + path).header("Accept", JSON);
  }

  /** Sends a read request, once more if an idle connection was closed. */
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

  /** The object or list at a path; a missing node if it does not exist. */
  JsonNode read(String path) {
    Answer answer = asked(() -> builder(path));
    if (answer.code() == 404) {
      return JsonMappers.JSON.missingNode();
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

  /** Opens a stream of lines, which the server ends after some time. */
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
      return JsonMappers.JSON.readTree(json);
    } catch (IOException e) {
      throw new BenchException("the API server's answer is no JSON: " + e.getMessage(), e);
    }
  }

  /** Waits for a response. */
  static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      throw new BenchException("the API server can't be reached: " + e.getCause(), e);
    }
  }

  /** Sleeps. */
  static void pause(Duration pause) {
    await(
        CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS)));
  }

  /** The requests sent so far. */
  Map<RequestKey, Long> sent() {
    Map<RequestKey, Long> counts = new TreeMap<>();
    sent.forEach((key, count) -> counts.put(key, count.sum()));
    return counts;
  }

  @Override
  public void close() {
    client.close();
  }

  /**
   * The API server's metrics at one time.
   *
   * @param requests requests answered since its start, with any status, without dry runs
   * @param cpuSeconds processor time since its start
   */
  record ServerReading(Map<RequestKey, Long> requests, double cpuSeconds) {

    private static final String REQUESTS = "apiserver_request_total{";
    private static final String CPU = "process_cpu_seconds_total ";
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    /**
     * Parses the text format.
     *
     * @throws BenchException when one of the two metrics is missing
     */
    static ServerReading parse(String text) {
      Map<RequestKey, Long> requests = new TreeMap<>();
      double cpu = -1;
      for (String line : (Iterable<String>) text.lines()::iterator) {
        if (line.startsWith(REQUESTS)) {
          count(line, requests);
        } else if (line.startsWith(CPU)) {
          cpu = Double.parseDouble(line.substring(CPU.length()).strip());
        }
      }
      if (cpu < 0 || requests.isEmpty()) {
        throw new BenchException(
            "the API server's metrics lack process_cpu_seconds_total or apiserver_request_total");
      }
      return new ServerReading(requests, cpu);
    }

    private static void count(String line, Map<RequestKey, Long> requests) {
      int end = line.lastIndexOf('}');
      Map<String, String> labels = new TreeMap<>();
      Matcher matcher = LABEL.matcher(line.substring(REQUESTS.length(), end));
      while (matcher.find()) {
        labels.put(matcher.group(1), matcher.group(2));
      }
      if (labels.getOrDefault("dry_run", "").isEmpty()) {
        RequestKey key =
            new RequestKey(
                labels.getOrDefault("verb", ""),
                labels.getOrDefault("group", ""),
                labels.getOrDefault("resource", ""),
                labels.getOrDefault("subresource", ""));
        long value = Math.round(Double.parseDouble(line.substring(end + 1).strip()));
        requests.merge(key, value, Long::sum);
      }
    }

    /** Writes answered between an earlier reading and this one. */
    Map<RequestKey, Long> writesSince(ServerReading before) {
      Map<RequestKey, Long> writes = new TreeMap<>();
      requests.forEach(
          (key, value) -> {
            long more = value - before.requests.getOrDefault(key, 0L);
            if (key.writes() && more > 0) {
              writes.put(key, more);
            }
          });
      return writes;
    }
  }
}
