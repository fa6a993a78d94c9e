package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

/** Lists and watches a collection; lists again when a watch cannot be continued. */
final class CollectionWatch implements AutoCloseable {

  private static final int MAX_FAILURES = 240;
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final BenchmarkApiClient benchmarkApiClient;
  private final String path;
  private final Consumer<JsonNode> seen;
  private final Consumer<BenchException> failed;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Creates a watch that calls {@code seen} on its own thread with each created or changed object.
   */
  CollectionWatch(
      BenchmarkApiClient benchmarkApiClient,
      String path,
      Consumer<JsonNode> seen,
      Consumer<BenchException> failed) {
    this.benchmarkApiClient = benchmarkApiClient;
    this.path = path;
    this.seen = seen;
    this.failed = failed;
    this.thread = Thread.ofPlatform().daemon().name("bench-watch").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  private void run() {
    String version = "";
    int failures = 0;
    while (!closed) {
      try {
        if (version.isEmpty()) {
          JsonNode list = benchmarkApiClient.read(path);
          list.path("items").forEach(seen);
          version = list.path("metadata").path("resourceVersion").asText();
        }
        version = follow(version);
        failures = 0;
      } catch (IOException | BenchException e) {
        failures++;
        version = "";
        if (!closed && failures > MAX_FAILURES) {
          failed.accept(
              new BenchException("the watch of " + path + " ended: " + e.getMessage(), e));
          return;
        }
        BenchmarkApiClient.pause(PAUSE);
      }
    }
  }

  /**
   * Watches from a version and returns the version to continue from; empty if a new list is needed.
   */
  private String follow(String from) throws IOException {
    String version = from;
    String query = "?watch=true&allowWatchBookmarks=true&timeoutSeconds=3000&resourceVersion=";
    try (InputStream body = benchmarkApiClient.watch(path + query + version);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8), 1 << 16)) {
      for (String line = lines.readLine(); line != null && !closed; line = lines.readLine()) {
        JsonNode event = benchmarkApiClient.tree(line.getBytes(StandardCharsets.UTF_8));
        JsonNode object = event.path("object");
        switch (event.path("type").asText()) {
          case "ADDED", "MODIFIED" -> seen.accept(object);
          case "ERROR" -> {
            return "";
          }
          default -> {
            // deletions and bookmarks only advance the version
          }
        }
        version = object.path("metadata").path("resourceVersion").asText(version);
      }
    }
    return version;
  }

  @Override
  public void close() {
    closed = true;
  }
}
