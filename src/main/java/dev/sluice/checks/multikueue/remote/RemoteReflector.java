package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ConnectionLostException;
import dev.sluice.kube.client.LineReader;
import dev.sluice.kube.client.ResourceExpiredException;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.StreamingListParser;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lists and watches the objects of one kind that carry this manager's label. Renews the watch when
 * the server ends it regularly, lists again when the resource version has expired, and fails on
 * every other error.
 */
final class RemoteReflector implements RemoteSession {

  private static final int PAGE_SIZE = 500;
  private static final int WATCH_SECONDS = 300;

  /** A watch without events that ends before this time counts as failed. */
  private static final Duration SHORTEST_WATCH = Duration.ofSeconds(1);

  /**
   * The server sends bookmarks every minute; a server that is silent for this time counts as lost.
   */
  private static final Duration SILENCE_LIMIT = Duration.ofSeconds(150);

  private final KubernetesClient client;
  private final HttpClient http;
  private final String uri;
  private final RemoteObjects objects;
  private final InstantSource clock;
  private volatile @Nullable ResponseStream stream;
  private volatile boolean closed;
  private String version = "";

  /**
   * Creates a reflector that is not running; closing it closes the client.
   *
   * @param path path of the kind, such as {@code apis/kueue.x-k8s.io/v1beta2/workloads}
   * @param selector label selector of the objects
   * @param objects the store of the objects
   */
  RemoteReflector(
      KubernetesClient client,
      String path,
      String selector,
      RemoteObjects objects,
      InstantSource clock) {
    this.client = client;
    this.http = client.getHttpClient();
    String root = client.getMasterUrl().toString();
    this.uri =
        root + (root.endsWith("/") ? "" : "/") + path + "?labelSelector=" + urlEncoded(selector);
    this.objects = objects;
    this.clock = clock;
  }

  @Override
  public KubernetesClient client() {
    return client;
  }

  @Override
  public void run(Duration timeout, Events events) throws IOException {
    Instant late = clock.instant().plus(timeout);
    boolean established = false;
    boolean listed = false;
    while (!closed) {
      try {
        if (!listed) {
          list(timeout, events);
          listed = true;
        }
        Duration left = established ? timeout : Duration.between(clock.instant(), late);
        try (ResponseStream opened = opened(watch(), left)) {
          if (!established) {
            established = true;
            events.established();
          }
          follow(opened, events);
        }
      } catch (ResourceExpiredException e) {
        listed = false;
      } catch (IOException e) {
        if (!closed) {
          throw e;
        }
      }
    }
  }

  private void list(Duration timeout, Events events) throws IOException {
    Set<RemoteObjects.Key> listed = new HashSet<>();
    String first = "";
    String next = "";
    do {
      String query =
          "&limit=" + PAGE_SIZE + (next.isEmpty() ? "" : "&continue=" + urlEncoded(next));
      try (ResponseStream page = opened(get(query).build(), timeout)) {
        byte[] frame =
            StreamingListParser.split(
                page, (bytes, length) -> listed.add(seen(bytes, length, events)));
        page.transferTo(OutputStream.nullOutputStream());
        JsonNode metadata = JsonMappers.JSON.readTree(frame).path("metadata");
        first = first.isEmpty() ? metadata.path("resourceVersion").asText("") : first;
        next = metadata.path("continue").asText("");
      }
    } while (!next.isEmpty());
    if (first.isEmpty()) {
      throw new IOException("the list has no resourceVersion");
    }
    version = first;
    objects.retain(listed, events);
  }

  private RemoteObjects.Key seen(byte[] bytes, int length, Events events) throws IOException {
    JsonNode item = JsonMappers.JSON.readTree(bytes, 0, length);
    if (item instanceof ObjectNode object) {
      objects.seen(object, events);
    }
    return RemoteObjects.Key.of(item);
  }

  private void follow(ResponseStream opened, Events events) throws IOException {
    Instant begun = clock.instant();
    LineReader lines = new LineReader(opened);
    boolean any = false;
    while (lines.next()) {
      any = true;
      JsonNode line = JsonMappers.JSON.readTree(lines.bytes(), lines.offset(), lines.length());
      JsonNode object = line.path("object");
      switch (line.path("type").asText()) {
        case "ADDED", "MODIFIED" -> objects.seen((ObjectNode) object, events);
        case "DELETED" -> objects.deleted(object, events);
        case "BOOKMARK" -> {}
        default -> fail(object);
      }
      version = object.path("metadata").path("resourceVersion").asText(version);
    }
    if (opened.wasCut()) {
      throw new IOException("nothing was heard for " + SILENCE_LIMIT.toSeconds() + "s");
    }
    if (!any && clock.instant().isBefore(begun.plus(SHORTEST_WATCH))) {
      throw new IOException("the watch ended at once");
    }
  }

  private static void fail(JsonNode status) throws IOException {
    String message = status.path("message").asText("");
    if (status.path("code").asInt() == 410) {
      throw new ResourceExpiredException(message);
    }
    throw new IOException("the watch failed: " + status.path("code").asInt() + " " + message);
  }

  @Override
  public void probe() {
    ResponseStream current = stream;
    if (current != null && current.heard().plus(SILENCE_LIMIT).isBefore(clock.instant())) {
      current.cut();
    }
  }

  private ResponseStream opened(HttpRequest request, Duration timeout) throws IOException {
    stream = null;
    Duration atLeast = timeout.isPositive() ? timeout : Duration.ofMillis(1);
    ResponseStream opened = open(request, atLeast);
    stream = opened;
    if (closed) {
      opened.cut();
    }
    return opened;
  }

  /**
   * The client may use a pooled connection that the server has closed; in that case the request is
   * sent once more.
   */
  private ResponseStream open(HttpRequest request, Duration timeout) throws IOException {
    try {
      return ResponseStream.open(http, request, timeout, clock);
    } catch (ConnectionLostException e) {
      if (closed) {
        throw e;
      }
      return ResponseStream.open(http, request, timeout, clock);
    }
  }

  private HttpRequest watch() {
    return get("&watch=true&allowWatchBookmarks=true&resourceVersion="
            + version
            + "&timeoutSeconds="
            + WATCH_SECONDS)
        .forStreaming()
        .build();
  }

  private HttpRequest.Builder get(String query) {
    return http.newHttpRequestBuilder().uri(uri + query).header("Accept", "application/json");
  }

  private static String urlEncoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    closed = true;
    ResponseStream current = stream;
    if (current != null) {
      current.cut();
    }
    client.close();
  }
}
