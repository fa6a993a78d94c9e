package dev.sluice.metrics;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.ProcessLauncher;
import dev.sluice.testing.GoProgram;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A real Prometheus in a process of its own. */
final class PrometheusServer implements AutoCloseable {

  private static final Path MODULE_FILES = Path.of("tools", "prometheus");
  private static final String MODULE = "github.com/prometheus/prometheus";

  /** Without the finders of targets in clouds, which are most of the program. */
  private static final List<String> FLAGS =
      List.of("-trimpath", "-ldflags", "-s -w", "-tags", "remove_all_sd");

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ManagedProcess process;
  private final int port;
  private final HttpClient http = HttpClient.newHttpClient();

  private PrometheusServer(ManagedProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  /** The program of this name, {@code prometheus} or {@code promtool}. */
  static Path program(String name) throws IOException, InterruptedException {
    GoProgram program =
        new GoProgram(
            name,
            name.equals("prometheus") ? "SLUICE_PROMETHEUS" : "SLUICE_PROMTOOL",
            MODULE_FILES,
            MODULE,
            MODULE + "/cmd/" + name,
            FLAGS);
    try {
      return program.find();
    } catch (GoProgram.MissingException e) {
      // not skipped: who runs the nightly tests wants to know
      throw new AssertionError(e.getMessage(), e);
    }
  }

  /** Starts one with a configuration file in {@code directory}; it answers when this returns. */
  static PrometheusServer start(Path directory, Path configuration)
      throws IOException, InterruptedException {
    Path program = program("prometheus");
    int port = FreePorts.choose(1, new SecureRandom()).getFirst();
    Path data = Files.createDirectories(directory.resolve("data"));
    ManagedProcess process =
        new ProcessLauncher(Lifetime.WITH_THIS_PROCESS)
            .start(
                "prometheus",
                List.of(
                    program.toString(),
                    "--config.file=" + configuration,
                    "--storage.tsdb.path=" + data,
                    "--web.listen-address=127.0.0.1:" + port,
                    "--log.level=warn"),
                directory.resolve("prometheus.log"));
    PrometheusServer server = new PrometheusServer(process, port);
    await("readiness of Prometheus, see " + process.log())
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(() -> server.get("/-/ready").statusCode() == 200);
    return server;
  }

  /** The result of an instant query; the error of one that can't be parsed is thrown. */
  List<JsonNode> query(String expression) throws IOException, InterruptedException {
    JsonNode result = data("/api/v1/query?query=" + encoded(expression)).path("result");
    List<JsonNode> series = new ArrayList<>();
    result.forEach(series::add);
    return series;
  }

  /**
   * The alerts that fire now, each as its name, followed by the labels {@code cluster_queue}, if it
   * has one.
   */
  Set<String> firing() throws IOException, InterruptedException {
    Set<String> names = new TreeSet<>();
    for (JsonNode alert : data("/api/v1/alerts").path("alerts")) {
      if (alert.path("state").asText().equals("firing")) {
        JsonNode labels = alert.path("labels");
        String queue = labels.path("cluster_queue").asText();
        names.add((labels.path("alertname").asText() + " " + queue).strip());
      }
    }
    return names;
  }

  /** The rules as the server holds them, with the health of the last evaluation. */
  List<JsonNode> rules() throws IOException, InterruptedException {
    List<JsonNode> rules = new ArrayList<>();
    for (JsonNode group : data("/api/v1/rules").path("groups")) {
      group.path("rules").forEach(rules::add);
    }
    return rules;
  }

  /** The target of a scrape job, with its health and last error. */
  JsonNode target(String job) throws IOException, InterruptedException {
    for (JsonNode target : data("/api/v1/targets").path("activeTargets")) {
      if (target.path("labels").path("job").asText().equals(job)) {
        return target;
      }
    }
    throw new AssertionError("no target of job " + job);
  }

  private JsonNode data(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = get(path);
    JsonNode body = JSON.readTree(response.body());
    if (!body.path("status").asText().equals("success")) {
      throw new AssertionError(path + ": " + response.body());
    }
    return body.path("data");
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        BodyHandlers.ofString());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    process.kill();
    http.close();
  }
}
