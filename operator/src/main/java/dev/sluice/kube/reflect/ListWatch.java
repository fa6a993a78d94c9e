package dev.sluice.kube.reflect;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.BoundedAnswers.AnswerTooLongException;
import dev.sluice.kube.client.CurrentStream;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.ResponseStream.ResourceExpiredException;
import dev.sluice.kube.client.ResponseStream.ResponseTimeoutException;
import dev.sluice.kube.client.StreamingListParser;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Lists a collection in pages, watches it from the version of the list on, and hands each object
 * over as bytes. One thread lists and watches; {@link #probe} and {@link #close} are for any
 * thread.
 */
public final class ListWatch implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Versions and continuations are longer only if a server wants to be asked for nonsense. */
  private static final int LONGEST_TOKEN = 16_384;

  /**
   * Receives the objects of a collection, on the thread that lists and watches. An exception ends
   * the call of {@link ListWatch#list} or {@link ListWatch#watch}.
   */
  public interface Handler {

    /** A listing begins: objects that it doesn't contain don't exist any more at its end. */
    void listingBegins();

    /**
     * An object exists, or was deleted or is not selected any more.
     *
     * @param bytes hold the object in {@code length} bytes from {@code offset} on, during the call
     */
    void object(byte[] bytes, int offset, int length, boolean deleted) throws IOException;

    /** An object is longer than allowed, and was left out. */
    default void tooLong() {}

    /** An event of the watch is not JSON. Ends the watch unless this method returns. */
    default void malformed(JsonProcessingException cause) throws IOException {
      throw cause;
    }

    /** The listing has ended; it shows the collection in this version. */
    void listingEnds(String version) throws IOException;

    /** A watch has begun. */
    default void watchBegins() {}

    /** All events up to this version have been handed over. */
    default void reached(String version) throws IOException {}
  }

  private final HttpClient http;
  private final String uri;
  private final ReadOptions options;
  private final InstantSource clock;
  private final CurrentStream stream;
  private final WatchEventReader eventReader = new WatchEventReader(TolerantDeserializers.json());
  private volatile Instant due = Instant.MAX;
  private String version = "";

  /**
   * Nothing is read yet.
   *
   * @param http connections to the API server, which stay the caller's
   * @param collection the address of the collection, and what is selected of it, such as {@code
   *     https://server/api/v1/pods?fieldSelector=spec.nodeName%21%3D}
   */
  public ListWatch(HttpClient http, String collection, ReadOptions options, InstantSource clock) {
    this.http = http;
    this.uri = collection + (collection.contains("?") ? "&" : "?");
    this.options = options;
    this.clock = clock;
    this.stream = new CurrentStream(options.silence(), clock);
  }

  /**
   * Lists the collection.
   *
   * @param end when the list, and the watch after it, must have come; {@link Instant#MAX}: never
   * @throws ResponseTimeoutException when the list has not ended by then
   * @throws ResourceExpiredException when the server has discarded the list between two pages
   * @throws AnswerTooLongException when the list exceeds a limit
   * @throws IOException on any other failure
   */
  public void list(Handler handler, Instant end) throws IOException {
    due = end;
    handler.listingBegins();
    Items items = new Items(handler);
    String first = "";
    String next = "";
    do {
      items.nextPage();
      JsonNode metadata = page(next, items);
      first = first.isEmpty() ? token(metadata.path("resourceVersion").asText()) : first;
      next = token(metadata.path("continue").asText());
    } while (!next.isEmpty());
    if (first.isEmpty()) {
      throw new IOException("the list has no resourceVersion");
    }
    if (!isClosed()) {
      handler.listingEnds(first);
      version = first;
    }
  }

  private JsonNode page(String next, Items items) throws IOException {
    String query =
        "limit=" + options.pageSize() + (next.isEmpty() ? "" : "&continue=" + urlEncoded(next));
    try (ResponseStream page = open(get(query).build(), left())) {
      byte[] frame =
          StreamingListParser.split(options.pacing().apply(page), items, options.objectBytes());
      return options.mapper().readTree(frame).path("metadata");
    }
  }

  private static String token(String text) throws AnswerTooLongException {
    if (text.length() > LONGEST_TOKEN) {
      throw new AnswerTooLongException(
          "a version or continuation of more than " + LONGEST_TOKEN + " characters");
    }
    return text;
  }

  /** The items of one listing, over all of its pages. */
  private final class Items implements StreamingListParser.ItemSink {

    private final Handler handler;
    private long bytes;
    private int pages;

    Items(Handler handler) {
      this.handler = handler;
    }

    void nextPage() throws IOException {
      if (++pages > options.pages()) {
        throw new AnswerTooLongException("a list of more than " + options.pages() + " pages");
      }
      checkTime();
    }

    @Override
    public void item(byte[] json, int length) throws IOException {
      checkTime();
      bytes += length;
      if (bytes > options.listedBytes()) {
        throw new AnswerTooLongException("a list of more than " + options.listedBytes() + " bytes");
      }
      handler.object(json, 0, length, false);
    }

    @Override
    public void tooLong() throws IOException {
      checkTime();
      handler.tooLong();
    }

    private void checkTime() throws IOException {
      if (isLate()) {
        throw new ResponseTimeoutException("not listed in time");
      }
    }
  }

  /**
   * Watches the collection from the last version on until the server ends the watch.
   *
   * @param seconds after which the server is asked to end it
   * @param patience how long the beginning of the answer may take
   * @return the number of events
   * @throws ResourceExpiredException when the server has discarded the events since the version
   * @throws AnswerTooLongException when an event exceeds a limit
   * @throws IOException on any other failure, and when the watch was cut
   */
  public int watch(Handler handler, int seconds, Duration patience) throws IOException {
    HttpRequest request =
        get("watch=true&allowWatchBookmarks=true&resourceVersion="
                + urlEncoded(version)
                + "&timeoutSeconds="
                + seconds)
            .forStreaming()
            .build();
    try (ResponseStream opened = open(request, patience)) {
      handler.watchBegins();
      due = clock.instant().plus(options.silence());
      int events = follow(opened, handler);
      if (isSilent(opened)) {
        throw silent(null);
      }
      return events;
    }
  }

  private boolean isSilent(ResponseStream opened) {
    return opened.wasCut() && !isClosed();
  }

  private IOException silent(@Nullable IOException cause) {
    return new IOException("nothing was heard for " + options.silence().toSeconds() + "s", cause);
  }

  /** Reads the events; however it ends, the next answer has its whole time. */
  private int follow(ResponseStream opened, Handler handler) throws IOException {
    try {
      return events(opened, handler);
    } catch (IOException e) {
      throw isSilent(opened) ? silent(e) : e;
    } finally {
      due = Instant.MAX;
    }
  }

  private int events(ResponseStream opened, Handler handler) throws IOException {
    LineReader lines = new LineReader(options.pacing().apply(opened), options.objectBytes());
    int skipped = 0;
    int events = 0;
    while (!isClosed() && lines.next()) {
      events++;
      due = clock.instant().plus(options.silence());
      try {
        eventReader.read(
            lines.bytes(),
            lines.offset(),
            lines.length(),
            (type, bytes, offset, length) -> event(handler, type, bytes, offset, length));
      } catch (JsonProcessingException e) {
        handler.malformed(e);
      }
      for (; skipped < lines.skippedLines(); skipped++) {
        handler.tooLong();
      }
    }
    return events;
  }

  private void event(Handler handler, String type, byte[] bytes, int offset, int length)
      throws IOException {
    switch (type) {
      case "ADDED", "MODIFIED" -> handler.object(bytes, offset, length, false);
      case "DELETED" -> handler.object(bytes, offset, length, true);
      case "BOOKMARK" -> {
        // Only the version, which is read below, is of use.
      }
      case "ERROR" -> fail(options.mapper().readTree(bytes, offset, length));
      default -> throw new IOException("the watch sent an unknown event");
    }
    String seen = token(MetadataFieldReader.version(bytes, offset, length));
    if (!seen.isEmpty()) {
      version = seen;
      handler.reached(seen);
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

  private static String urlEncoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private ResponseStream open(HttpRequest request, Duration patience) throws IOException {
    return stream.open(() -> ResponseStream.open(http, request, patience, clock));
  }

  /** How long the next answer may take to begin. */
  public Duration left() {
    Instant end = due;
    if (end.equals(Instant.MAX)) {
      return PATIENCE;
    }
    Duration left = Duration.between(clock.instant(), end);
    return left.isPositive() ? left : Duration.ofMillis(1);
  }

  /** Whether the server has not sent what it had to by now. */
  public boolean isLate() {
    return clock.instant().isAfter(due);
  }

  /** Cuts the answer that is being read if the server is late; to be called regularly. */
  public void probe() {
    if (isLate()) {
      stream.cut();
    }
  }

  /** Cuts the answer that is being read, if there is one. */
  public void cut() {
    stream.cut();
  }

  /** Cuts each answer of which no byte came for as long as a watch may be silent, until closed. */
  public void watchOver() {
    stream.watchOver();
  }

  /** Whether the last answer was cut. */
  public boolean wasCut() {
    return stream.wasCut();
  }

  /** Waits for so long, or until this is closed; returns whether it is. */
  public boolean pause(Duration duration) {
    return stream.pause(duration);
  }

  /** Whether this was closed. */
  public boolean isClosed() {
    return stream.isClosed();
  }

  /** Ends the listing or the watch, and each later one. */
  @Override
  public void close() {
    stream.close();
  }

  /** Cuts an event of a watch into its type and its object, without a copy. */
  private static final class WatchEventReader {

    /** Takes an event; the bytes are only good during the call. */
    @FunctionalInterface
    public interface Sink {
      /** The object of the event is written in {@code length} bytes from {@code offset} on. */
      void event(String type, byte[] bytes, int offset, int length) throws IOException;
    }

    private final JsonFactory json;

    /** Reads events with the parsers of this factory. */
    public WatchEventReader(JsonFactory json) {
      this.json = json;
    }

    /** Reads one event, which is written in {@code length} bytes from {@code offset} on. */
    public void read(byte[] bytes, int offset, int length, Sink sink) throws IOException {
      String type = "";
      int from = 0;
      int to = 0;
      try (JsonParser event = json.createParser(bytes, offset, length)) {
        event.nextToken();
        while (event.nextToken() == JsonToken.FIELD_NAME) {
          String field = event.currentName();
          event.nextToken();
          if (field.equals("type")) {
            type = event.getText();
          } else if (field.equals("object")) {
            from = offset + (int) event.currentTokenLocation().getByteOffset();
            event.skipChildren();
            to = offset + (int) event.currentLocation().getByteOffset();
          } else {
            event.skipChildren();
          }
        }
      }
      sink.event(type, bytes, from, to - from);
    }
  }

  /**
   * Cuts a stream into lines of bytes, without a copy per line. A line that is longer than allowed
   * is read to its end without being kept, and counted.
   */
  private static final class LineReader {

    /** A line of so many times the allowed length ends the reading. */
    private static final int SKIPPED = 8;

    private static final int FIRST_BUFFER = 1 << 16;

    private final InputStream in;
    private final int longest;
    private byte[] buffer = new byte[FIRST_BUFFER];
    private int from;
    private int scanned;
    private int end;
    private int lineEnd;
    private long skipped;
    private int skippedLines;

    /**
     * Lines of {@code in}.
     *
     * @param longest the most bytes of a line that is kept
     */
    public LineReader(InputStream in, int longest) {
      this.in = in;
      this.longest = longest;
    }

    /**
     * Moves to the next line that is not too long; false at the end of the stream, where a broken
     * line is dropped.
     *
     * @throws AnswerTooLongException when a line is eight times as long as allowed
     */
    public boolean next() throws IOException {
      from = lineEnd == 0 ? 0 : lineEnd + 1;
      scanned = from;
      while (true) {
        for (; scanned < end; scanned++) {
          if (buffer[scanned] == '\n') {
            lineEnd = scanned;
            if (skipped > 0) {
              skipped = 0;
              skippedLines++;
            } else if (lineEnd > from) {
              return true;
            }
            from = scanned + 1;
          }
        }
        if (!fill()) {
          return false;
        }
      }
    }

    private boolean fill() throws IOException {
      if (skipped > 0 || end - from > longest) {
        skipped += end - from;
        from = end;
        if (skipped / SKIPPED > longest) {
          throw new AnswerTooLongException("a line of more than " + skipped + " bytes");
        }
      }
      if (from > 0) {
        System.arraycopy(buffer, from, buffer, 0, end - from);
        end -= from;
        scanned -= from;
        from = 0;
        lineEnd = 0;
      }
      if (end == buffer.length) {
        buffer =
            Arrays.copyOf(
                buffer, (int) Math.min(2L * buffer.length, longest + (long) FIRST_BUFFER));
      }
      int count = in.read(buffer, end, buffer.length - end);
      if (count < 0) {
        return false;
      }
      end += count;
      return true;
    }

    /** How many lines were too long, and were left out. */
    public int skippedLines() {
      return skippedLines;
    }

    /** The bytes that hold the line, from {@link #offset} on. */
    public byte[] bytes() {
      return buffer;
    }

    /** Where in {@link #bytes} the line begins. */
    public int offset() {
      return from;
    }

    /** How many bytes the line has. */
    public int length() {
      return lineEnd - from;
    }
  }

  /**
   * How much a {@link ListWatch} reads.
   *
   * @param mapper reads what is around the items of a list, and errors of a watch
   * @param pageSize the objects that one page of a listing is asked for
   * @param objectBytes the longest object that is read
   * @param listedBytes the most bytes of all objects of one listing
   * @param pages the most pages of one listing
   * @param silence a watch is late when it had no event for longer
   * @param pacing the body of an answer, read as fast as is allowed
   */
  public record ReadOptions(
      ObjectMapper mapper,
      int pageSize,
      int objectBytes,
      long listedBytes,
      long pages,
      Duration silence,
      UnaryOperator<InputStream> pacing) {

    /** No limits: for the cluster that the process belongs to. */
    public static ReadOptions unlimited(ObjectMapper mapper, int pageSize, Duration silence) {
      return new ReadOptions(
          mapper,
          pageSize,
          Integer.MAX_VALUE,
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          silence,
          UnaryOperator.identity());
    }
  }

  /**
   * Reads single texts of an object's metadata, and nothing else: also of objects that can't be
   * read otherwise, of any depth that the API server takes.
   */
  public static final class MetadataFieldReader {

    private static final JsonFactory JSON = TolerantDeserializers.json();

    private MetadataFieldReader() {}

    /** The {@code resourceVersion} of an object; empty if it has none. */
    static String version(byte[] bytes, int offset, int length) throws IOException {
      return of(bytes, offset, length, "resourceVersion");
    }

    /**
     * A text of the metadata of the object that is written in {@code length} bytes from {@code
     * offset} on; empty if it has none.
     *
     * @param field such as {@code name}
     * @throws IOException when the bytes before the field aren't JSON
     */
    public static String of(byte[] bytes, int offset, int length, String field) throws IOException {
      try (JsonParser parser = JSON.createParser(bytes, offset, length)) {
        parser.nextToken();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          boolean metadata = parser.currentName().equals("metadata");
          if (parser.nextToken() == JsonToken.START_OBJECT && metadata) {
            return text(parser, field);
          }
          parser.skipChildren();
        }
      }
      return "";
    }

    private static String text(JsonParser parser, String field) throws IOException {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean wanted = parser.currentName().equals(field);
        if (parser.nextToken() == JsonToken.VALUE_STRING && wanted) {
          return parser.getText();
        }
        parser.skipChildren();
      }
      return "";
    }
  }
}
