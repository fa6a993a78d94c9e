package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.Backoff;
import dev.sluice.kube.client.CurrentStream;
import dev.sluice.kube.client.LineReader;
import dev.sluice.kube.client.ResourceExpiredException;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.StreamingListParser;
import dev.sluice.kube.client.WatchEventReader;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists a collection in pages and watches it, and hands each object over as bytes, so that nothing
 * but what the sink keeps stays in memory. A watch that ends is resumed from the last version; the
 * list is repeated only when the API server has discarded the events since then.
 *
 * @param <T> what is kept of an object
 */
public final class Reflector<T> implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Reflector.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration SILENCE = Duration.ofMinutes(3);
  private static final int PAGE = 500;
  private static final int WATCH_SECONDS = 400;

  /**
   * Keeps the objects of a collection. All methods are called on one thread.
   *
   * @param <T> what is kept of an object
   */
  public interface Sink<T> {

    /** Parses an object, which is written in {@code length} bytes from {@code offset} on. */
    T parse(byte[] bytes, int offset, int length) throws IOException;

    /** A listing begins: objects that it doesn't contain don't exist any more at its end. */
    void listingBegins();

    /** The object exists in this version. */
    void seen(T object);

    /** The object does not exist any more, or is not selected any more. */
    void deleted(T last);

    /**
     * An object that exists, or was deleted, could not be parsed or kept. Its last known version
     * stays unless the sink decides otherwise.
     *
     * @param namespace empty for objects of the whole cluster
     */
    default void unreadable(String namespace, String name, boolean deleted) {}

    /** The listing has ended. */
    void listingEnds();
  }

  private final String name;
  private final HttpClient http;
  private final String uri;
  private final Sink<T> sink;
  private final Reflectors reflectors;
  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final WatchEventReader eventReader = new WatchEventReader(TolerantDeserializers.json());
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private final CurrentStream stream;
  private String version = "";

  Reflector(String name, String path, Sink<T> sink, Reflectors reflectors) {
    this.name = name;
    this.http = reflectors.client().getHttpClient();
    this.uri = reflectors.client().getMasterUrl() + path + (path.contains("?") ? "&" : "?");
    this.sink = sink;
    this.reflectors = reflectors;
    this.stream = new CurrentStream(SILENCE, reflectors.clock());
  }

  /** Starts reading; completes when the first listing has ended. */
  public CompletableFuture<Void> start() {
    Thread.ofVirtual().name(name + "-reader").start(this::read);
    Thread.ofVirtual().name(name + "-reader-watchdog").start(stream::watchOver);
    return synced;
  }

  private void read() {
    Backoff backoff =
        new Backoff(Duration.ofMillis(200), Duration.ofSeconds(15), reflectors.random());
    while (!isClosed()) {
      try {
        if (version.isEmpty()) {
          list();
        }
        if (follow() > 0) {
          backoff.reset();
        } else {
          pause(backoff.next());
        }
      } catch (ResourceExpiredException e) {
        version = "";
        pause(backoff.next());
      } catch (IOException | RuntimeException | Error e) {
        if (!isClosed()) {
          LOG.warn("watch={} again=true reason=\"{}\"", name, e.toString());
        }
        pause(backoff.next());
      }
    }
  }

  private void list() throws IOException {
    sink.listingBegins();
    String first = "";
    String next = "";
    do {
      JsonNode metadata = page(next);
      first = first.isEmpty() ? metadata.path("resourceVersion").asText() : first;
      next = metadata.path("continue").asText();
    } while (!next.isEmpty());
    if (isClosed()) {
      return;
    }
    sink.listingEnds();
    version = first;
    synced.complete(null);
  }

  private JsonNode page(String next) throws IOException {
    String query =
        "limit="
            + PAGE
            + (next.isEmpty()
                ? ""
                : "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8));
    try (ResponseStream page = open(get(query).build())) {
      byte[] frame =
          StreamingListParser.split(page, (bytes, length) -> seen(bytes, 0, length, false));
      page.transferTo(OutputStream.nullOutputStream());
      return mapper.readTree(frame).path("metadata");
    }
  }

  private int follow() throws IOException {
    int seconds = WATCH_SECONDS * 3 / 4 + reflectors.random().nextInt(WATCH_SECONDS / 2);
    HttpRequest request =
        get("watch=true&allowWatchBookmarks=true&resourceVersion="
                + version
                + "&timeoutSeconds="
                + seconds)
            .forStreaming()
            .build();
    int events = 0;
    try (ResponseStream opened = open(request)) {
      LineReader lines = new LineReader(opened);
      while (!isClosed() && lines.next()) {
        eventReader.read(lines.bytes(), lines.offset(), lines.length(), this::event);
        events++;
      }
    } catch (IOException e) {
      if (e instanceof ResourceExpiredException || !stream.wasCut()) {
        throw e;
      }
    }
    return events;
  }

  private void event(String type, byte[] bytes, int offset, int length) throws IOException {
    switch (type) {
      case "ADDED", "MODIFIED" -> seen(bytes, offset, length, false);
      case "DELETED" -> seen(bytes, offset, length, true);
      case "BOOKMARK" -> {
        // Only the version, which is read below, is of use.
      }
      case "ERROR" -> fail(mapper.readTree(bytes, offset, length));
      default -> throw new IOException("unknown event of type \"" + type + "\"");
    }
    String seen = MetadataFieldReader.version(bytes, offset, length);
    version = seen.isEmpty() ? version : seen;
  }

  private void seen(byte[] bytes, int offset, int length, boolean deleted) {
    try {
      T object = sink.parse(bytes, offset, length);
      if (deleted) {
        sink.deleted(object);
      } else {
        sink.seen(object);
      }
    } catch (IOException
        | RuntimeException
        | StackOverflowError
        | LinkageError
        | AssertionError e) {
      reflectors.faults().report(ReadErrorLog.Fault.of(tree(bytes, offset, length), e));
      unreadable(bytes, offset, length, deleted);
    }
  }

  private void unreadable(byte[] bytes, int offset, int length, boolean deleted) {
    try {
      String object = MetadataFieldReader.of(bytes, offset, length, "name");
      if (!object.isEmpty()) {
        sink.unreadable(
            MetadataFieldReader.of(bytes, offset, length, "namespace"), object, deleted);
      }
    } catch (IOException e) {
      LOG.debug("watch={} unnamed=true reason=\"{}\"", name, e.toString());
    }
  }

  private JsonNode tree(byte[] bytes, int offset, int length) {
    try {
      return mapper.readTree(bytes, offset, length);
    } catch (IOException e) {
      return mapper.missingNode();
    }
  }

  private static void fail(JsonNode status) throws IOException {
    String message = status.path("code").asInt() + " " + status.path("message").asText();
    if (status.path("code").asInt() == 410 || status.path("reason").asText().equals("Expired")) {
      throw new ResourceExpiredException(message);
    }
    throw new IOException("the watch failed: " + message);
  }

  private HttpRequest.Builder get(String query) {
    return http.newHttpRequestBuilder().uri(uri + query).header("Accept", "application/json");
  }

  private ResponseStream open(HttpRequest request) throws IOException {
    return stream.open(() -> ResponseStream.open(http, request, PATIENCE, reflectors.clock()));
  }

  private boolean isClosed() {
    return stream.isClosed();
  }

  private void pause(Duration duration) {
    if (stream.pause(duration)) {
      synced.cancel(false);
    }
  }

  /** Stops reading; the sink may get one more call. */
  @Override
  public void close() {
    stream.close();
    synced.cancel(false);
  }
}
