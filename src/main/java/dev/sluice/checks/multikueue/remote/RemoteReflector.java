package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.client.AnswerTooLongException;
import dev.sluice.kube.client.ConnectionLostException;
import dev.sluice.kube.client.LineReader;
import dev.sluice.kube.client.ResourceExpiredException;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.ResponseTimeoutException;
import dev.sluice.kube.client.StreamingListParser;
import dev.sluice.kube.client.WatchEventReader;
import dev.sluice.kube.reflect.MetadataFieldReader;
import dev.sluice.kube.reflect.TolerantDeserializers;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Lists and watches objects of one kind in a worker cluster, within the limits of its budget.
 * Renews the watch when the server ends it regularly, lists again when the resource version has
 * expired, and fails on every other error. An object that can't be read is noted and left out: the
 * last known version stays.
 */
final class RemoteReflector implements AutoCloseable {

  private static final int PAGE_SIZE = 500;
  private static final int WATCH_SECONDS = 300;
  private static final Key NO_KEY = new Key("", "");

  /** Versions and continuations are longer only if the server wants to be asked for nonsense. */
  private static final int LONGEST_TOKEN = 16_384;

  /** A watch without events that ends before this time counts as failed. */
  private static final Duration SHORTEST_WATCH = Duration.ofSeconds(1);

  private final HttpClient http;
  private final String uri;
  private final String path;
  private final String selector;
  private final RemoteObjects objects;
  private final RemoteBudget budget;
  private final InstantSource clock;
  private final WatchEventReader eventReader = new WatchEventReader(TolerantDeserializers.json());
  private volatile @Nullable ResponseStream stream;
  private volatile Instant due = Instant.MAX;
  private volatile boolean closed;
  private String version = "";

  /**
   * Creates a reflector that is not running.
   *
   * @param http connections to the worker, which stay the caller's
   * @param root where the worker's API server is
   * @param path path of the kind, such as {@code apis/kueue.x-k8s.io/v1beta2/workloads}
   * @param selector the label that the objects have, as {@code key=value}; empty for all objects
   * @param objects the store of the objects
   */
  RemoteReflector(
      HttpClient http,
      String root,
      String path,
      String selector,
      RemoteObjects objects,
      InstantSource clock) {
    this.http = http;
    this.path = path;
    this.selector = selector;
    this.uri =
        root
            + (root.endsWith("/") ? "" : "/")
            + path
            + "?"
            + (selector.isEmpty() ? "" : "labelSelector=" + urlEncoded(selector) + "&");
    this.objects = objects;
    this.budget = objects.budget();
    this.clock = clock;
  }

  /**
   * Lists and watches; returns only after it was closed.
   *
   * @param timeout the longest time until the watch must be established, and of each later listing
   * @throws RemoteLimitException when the worker sends more than is read from one
   * @throws ResponseTimeoutException when the watch is not established in time
   * @throws IOException when anything else fails
   */
  void run(Duration timeout, RemoteSession.Events events) throws IOException {
    boolean established = false;
    boolean listed = false;
    while (!closed) {
      try {
        if (!listed) {
          due = clock.instant().plus(timeout);
          list(events);
          listed = true;
        }
        try (ResponseStream opened = opened(watch(), established ? timeout : left())) {
          if (!established) {
            established = true;
            events.established();
          }
          follow(opened, events);
        }
      } catch (ResourceExpiredException e) {
        listed = false;
      } catch (AnswerTooLongException e) {
        throw new RemoteLimitException(path + ": " + e.getMessage());
      } catch (IOException e) {
        if (!closed) {
          throw isLate() ? new ResponseTimeoutException("not listed in time", e) : e;
        }
      }
    }
  }

  private Duration left() {
    return Duration.between(clock.instant(), due);
  }

  private boolean isLate() {
    return clock.instant().isAfter(due);
  }

  private void list(RemoteSession.Events events) throws IOException {
    Listing listing = new Listing(events);
    String first = "";
    String next = "";
    do {
      listing.nextPage();
      String query = "limit=" + PAGE_SIZE + (next.isEmpty() ? "" : "&continue=" + urlEncoded(next));
      try (ResponseStream page = opened(get(query).build(), left())) {
        byte[] frame =
            StreamingListParser.split(
                new PacedInput(page, budget), listing, budget.limits().objectBytes());
        JsonNode metadata = budget.mapper().readTree(frame).path("metadata");
        first = first.isEmpty() ? token(metadata.path("resourceVersion").asText("")) : first;
        next = token(metadata.path("continue").asText(""));
      }
    } while (!next.isEmpty());
    if (first.isEmpty()) {
      throw new IOException("the list has no resourceVersion");
    }
    version = first;
    budget.reading().lock();
    try {
      objects.retain(listing.listed, events);
    } finally {
      budget.reading().unlock();
    }
  }

  private String token(String text) throws RemoteLimitException {
    if (text.length() > LONGEST_TOKEN) {
      throw new RemoteLimitException(
          path + ": a version or continuation of more than " + LONGEST_TOKEN + " characters");
    }
    return text;
  }

  /** What came of one listing so far, over all of its pages. */
  private final class Listing implements StreamingListParser.ItemSink {

    private final RemoteSession.Events events;
    private final Set<Key> listed = new HashSet<>();
    private long bytes;
    private int pages;

    Listing(RemoteSession.Events events) {
      this.events = events;
    }

    void nextPage() throws IOException {
      if (++pages > budget.limits().pages()) {
        throw new RemoteLimitException(
            path + ": a list of more than " + budget.limits().pages() + " pages");
      }
      checkTime();
    }

    @Override
    public void item(byte[] json, int length) throws IOException {
      checkTime();
      bytes += length;
      if (bytes > budget.limits().listedBytes()) {
        throw new RemoteLimitException(
            path + ": a list of more than " + budget.limits().listedBytes() + " bytes");
      }
      Key key = seen(json, 0, length, events);
      if (key.isPossible()) {
        listed.add(key);
      }
    }

    @Override
    public void tooLong() throws IOException {
      checkTime();
      noteTooLong();
    }

    private void checkTime() throws IOException {
      if (isLate()) {
        throw new ResponseTimeoutException("not listed in time");
      }
    }
  }

  private void noteTooLong() {
    budget.unreadable(
        path,
        NO_KEY,
        new AnswerTooLongException(
            "an object of more than " + budget.limits().objectBytes() + " bytes"));
  }

  /** Keeps an object, if it can be read; returns its key, as far as that can be read. */
  private Key seen(byte[] json, int offset, int length, RemoteSession.Events events)
      throws RemoteLimitException {
    budget.reading().lock();
    try {
      JsonNode item = budget.mapper().readTree(json, offset, length);
      Key key = Key.of(item);
      if (!(item instanceof ObjectNode object) || !key.isPossible()) {
        throw new IOException("it has no name, or an impossible one");
      }
      if (!selected(object)) {
        throw new RemoteLimitException(
            path + ": objects without the label " + selector + ", which were not asked for");
      }
      objects.seen(object, events);
      return key;
    } catch (RemoteLimitException e) {
      throw e;
    } catch (IOException | RuntimeException | StackOverflowError e) {
      Key key = key(json, offset, length);
      budget.unreadable(path, key, e);
      return key;
    } finally {
      budget.reading().unlock();
    }
  }

  /** Whether an object has the label that was asked for; an API server sends no others. */
  private boolean selected(JsonNode object) {
    int equals = selector.indexOf('=');
    return equals < 0
        || object
            .path("metadata")
            .path("labels")
            .path(selector.substring(0, equals))
            .asText()
            .equals(selector.substring(equals + 1));
  }

  /** The key of an object that can't be read; without a name if that can't be read either. */
  private static Key key(byte[] json, int offset, int length) {
    try {
      Key key =
          new Key(
              MetadataFieldReader.of(json, offset, length, "namespace"),
              MetadataFieldReader.of(json, offset, length, "name"));
      return key.isPossible() ? key : NO_KEY;
    } catch (IOException e) {
      return NO_KEY;
    }
  }

  private void follow(ResponseStream opened, RemoteSession.Events events) throws IOException {
    Instant begun = clock.instant();
    due = begun.plus(RemoteLimits.SILENCE);
    try {
      boolean any = lines(opened, events);
      if (!any && clock.instant().isBefore(begun.plus(SHORTEST_WATCH))) {
        throw new IOException("the watch ended at once");
      }
    } catch (IOException e) {
      throw isSilent(opened) ? silent(e) : e;
    }
    if (isSilent(opened)) {
      throw silent(null);
    }
    due = Instant.MAX;
  }

  private boolean isSilent(ResponseStream opened) {
    return opened.wasCut() && !closed;
  }

  private IOException silent(@Nullable IOException cause) {
    due = Instant.MAX;
    return new IOException(
        "nothing was heard for " + RemoteLimits.SILENCE.toSeconds() + "s", cause);
  }

  /** Reads events to the end of the watch; returns whether there was any. */
  private boolean lines(ResponseStream opened, RemoteSession.Events events) throws IOException {
    LineReader lines =
        new LineReader(new PacedInput(opened, budget), budget.limits().objectBytes());
    int skipped = 0;
    boolean any = false;
    while (lines.next()) {
      any = true;
      due = clock.instant().plus(RemoteLimits.SILENCE);
      line(lines, events);
      for (; skipped < lines.skippedLines(); skipped++) {
        noteTooLong();
      }
    }
    return any;
  }

  private void line(LineReader line, RemoteSession.Events events) throws IOException {
    try {
      eventReader.read(
          line.bytes(),
          line.offset(),
          line.length(),
          (type, json, offset, length) -> event(type, json, offset, length, events));
    } catch (JsonProcessingException e) {
      budget.unreadable(path, NO_KEY, e);
    }
  }

  private void event(String type, byte[] json, int offset, int length, RemoteSession.Events events)
      throws IOException {
    switch (type) {
      case "ADDED", "MODIFIED" -> seen(json, offset, length, events);
      case "DELETED" -> deleted(key(json, offset, length), events);
      case "BOOKMARK" -> {
        // Only the version, which is read below, is of use.
      }
      default -> fail(type, json, offset, length);
    }
    String seen = token(MetadataFieldReader.of(json, offset, length, "resourceVersion"));
    version = seen.isEmpty() ? version : seen;
  }

  private void deleted(Key key, RemoteSession.Events events) {
    budget.reading().lock();
    try {
      objects.deleted(key, events);
    } finally {
      budget.reading().unlock();
    }
  }

  private void fail(String type, byte[] json, int offset, int length) throws IOException {
    JsonNode status = budget.mapper().readTree(json, offset, length);
    String message = status.path("message").asText("");
    if (status.path("code").asInt() == 410) {
      throw new ResourceExpiredException(message);
    }
    throw new IOException(
        type.equals("ERROR")
            ? "the watch failed: " + status.path("code").asInt() + " " + message
            : "the watch sent an unknown event");
  }

  /** Makes {@link #run} fail if the server is late; to be called regularly. */
  void probe() {
    ResponseStream current = stream;
    if (current != null && isLate()) {
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
    return get("watch=true&allowWatchBookmarks=true&resourceVersion="
            + urlEncoded(version)
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
  }

  /** What a worker sends, read as fast as its budget allows. */
  private static final class PacedInput extends FilterInputStream {

    private static final int CHUNK = 1 << 16;

    private final RemoteBudget budget;

    PacedInput(InputStream in, RemoteBudget budget) {
      super(in);
      this.budget = budget;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = super.read(bytes, offset, Math.min(length, CHUNK));
      if (count > 0) {
        Duration pause = budget.read(count);
        if (!pause.isZero()) {
          LockSupport.parkNanos(pause.toNanos());
        }
      }
      return count;
    }
  }
}
