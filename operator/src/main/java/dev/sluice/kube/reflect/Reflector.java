package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.Backoff;
import dev.sluice.kube.client.MonotonicClock;
import dev.sluice.kube.client.ResourceExpiredException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
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
  private static final Duration SILENCE = Duration.ofMinutes(3);
  private static final Duration SAME_REASON = Duration.ofMinutes(10);
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
  private final Sink<T> sink;
  private final Reflectors reflectors;
  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private final ListWatch listWatch;
  private String warnedOf = "";
  private Instant warnedAt = Instant.EPOCH;

  Reflector(String name, String path, Sink<T> sink, Reflectors reflectors) {
    this.name = name;
    this.sink = sink;
    this.reflectors = reflectors;
    this.listWatch =
        new ListWatch(
            reflectors.client().getHttpClient(),
            reflectors.client().getMasterUrl() + path,
            ReadOptions.unlimited(mapper, PAGE, SILENCE),
            new MonotonicClock(reflectors.clock()));
  }

  /** Starts reading; completes when the first listing has ended. */
  public CompletableFuture<Void> start() {
    Thread.ofVirtual().name(name + "-reader").start(this::read);
    Thread.ofVirtual().name(name + "-reader-watchdog").start(listWatch::watchOver);
    return synced;
  }

  private void read() {
    Backoff backoff =
        new Backoff(Duration.ofMillis(200), Duration.ofSeconds(15), reflectors.random());
    SinkHandler handler = new SinkHandler();
    boolean listed = false;
    while (!listWatch.isClosed()) {
      try {
        if (!listed) {
          listWatch.list(handler, Instant.MAX);
          listed = true;
        }
        if (watch(handler) > 0) {
          backoff.reset();
        } else {
          pause(backoff.next());
        }
      } catch (ResourceExpiredException e) {
        listed = false;
        pause(backoff.next());
      } catch (IOException | RuntimeException | Error e) {
        if (!listWatch.isClosed()) {
          warn(e.toString());
        }
        pause(backoff.next());
      }
    }
  }

  /** Warns of a reason; of the same one not again for a while, as some are there to stay. */
  private void warn(String reason) {
    Instant now = reflectors.clock().instant();
    if (!reason.equals(warnedOf) || now.isAfter(warnedAt.plus(SAME_REASON))) {
      LOG.warn("watch={} again=true reason=\"{}\"", name, reason);
      warnedOf = reason;
      warnedAt = now;
    }
  }

  /** Watches; returns the number of events, 0 if the watch was cut because it was silent. */
  private int watch(SinkHandler handler) throws IOException {
    int seconds = WATCH_SECONDS * 3 / 4 + reflectors.random().nextInt(WATCH_SECONDS / 2);
    try {
      return listWatch.watch(handler, seconds, listWatch.left());
    } catch (IOException e) {
      if (e instanceof ResourceExpiredException || !listWatch.wasCut()) {
        throw e;
      }
      return 0;
    }
  }

  private void pause(Duration duration) {
    if (listWatch.pause(duration)) {
      synced.cancel(false);
    }
  }

  /** Stops reading; the sink may get one more call. */
  @Override
  public void close() {
    listWatch.close();
    synced.cancel(false);
  }

  /** Parses objects for the sink, and contains those that can't be parsed. */
  private final class SinkHandler implements ListWatch.Handler {

    @Override
    public void listingBegins() {
      sink.listingBegins();
    }

    @Override
    public void object(byte[] bytes, int offset, int length, boolean deleted) {
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
        reflectors.errors().report(ReadErrorLog.Fault.of(tree(bytes, offset, length), e));
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

    @Override
    public void listingEnds(String version) {
      sink.listingEnds();
      synced.complete(null);
    }
  }
}
