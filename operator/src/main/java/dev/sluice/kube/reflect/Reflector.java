package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.Backoff;
import dev.sluice.kube.client.MonotonicClock;
import dev.sluice.kube.client.ResponseStream.ResourceExpiredException;
import dev.sluice.kube.reflect.ListWatch.MetadataFieldReader;
import dev.sluice.kube.reflect.ListWatch.ReadOptions;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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

  /**
   * The objects of one collection, as a {@link Reflector} last saw them. The store keeps what its
   * parser makes of an object, and drops the object. An object that can't be parsed stays as it was
   * known. Observers are called on the reflector's thread, after the store has the change. Readable
   * from any thread.
   *
   * @param <T> what is kept of an object
   */
  public static final class Store<T> implements Reflector.Sink<Store.Item<T>> {

    private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
    private final Function<JsonNode, T> parser;
    private final Function<? super T, String> index;
    private final Map<String, Item<T>> objects = new ConcurrentHashMap<>();
    private final Map<String, Map<String, T>> indexed = new ConcurrentHashMap<>();
    private final GuardedListeners<Observer<? super T>> observers = new GuardedListeners<>();

    /** The keys of a listing that has begun; only the reflector's thread uses it. */
    private @Nullable Set<String> listing;

    /**
     * Listener for changes.
     *
     * @param <T> what is kept of an object
     */
    @FunctionalInterface
    public interface Observer<T> {

      /** An object appeared ({@code before} is null), changed, or went ({@code after} is null). */
      void changed(@Nullable T before, @Nullable T after);
    }

    /**
     * One version of an object.
     *
     * @param key namespace and name
     * @param uid of the object
     * @param version its resource version
     * @param value what the parser made of it
     */
    public record Item<T>(String key, String uid, String version, T value) {

      private boolean isSameVersion(Item<T> other) {
        return !version.isEmpty() && version.equals(other.version) && uid.equals(other.uid);
      }
    }

    /**
     * An empty store.
     *
     * @param parser what is kept of an object; may throw for one that can't be parsed
     */
    public Store(Function<JsonNode, T> parser) {
      this(parser, any -> "");
    }

    /**
     * An empty store with an index.
     *
     * @param parser what is kept of an object; may throw for one that can't be parsed
     * @param index the value by which an object is found with {@link #with}; empty for none
     */
    public Store(Function<JsonNode, T> parser, Function<? super T, String> index) {
      this.parser = parser;
      this.index = index;
    }

    /** Adds an observer; it is not told of what the store holds already. */
    public void observe(Observer<? super T> observer) {
      observers.add(observer);
    }

    /** The cluster-scoped object of this name, if it exists. */
    public Optional<T> find(String name) {
      return find("", name);
    }

    /** The object of this name, if it exists; the namespace is empty for a cluster-scoped one. */
    public Optional<T> find(String namespace, String name) {
      return Optional.ofNullable(objects.get(key(namespace, name))).map(Item::value);
    }

    /** All objects, in no order; objects may come and go while the stream is read. */
    public Stream<T> all() {
      return objects.values().stream().map(Item::value);
    }

    /** The objects with this value of the index, in no order. */
    public Collection<T> with(String indexValue) {
      return List.copyOf(indexed.getOrDefault(indexValue, Map.of()).values());
    }

    @Override
    public Item<T> parse(byte[] bytes, int offset, int length) throws IOException {
      JsonNode object = mapper.readTree(bytes, offset, length);
      JsonNode metadata = object.path("metadata");
      return new Item<>(
          key(metadata.path("namespace").asText(), metadata.path("name").asText()),
          metadata.path("uid").asText(),
          metadata.path("resourceVersion").asText(),
          parser.apply(object));
    }

    @Override
    public void listingBegins() {
      listing = new HashSet<>();
    }

    @Override
    public void seen(Item<T> object) {
      listed(object.key());
      Item<T> before = objects.put(object.key(), object);
      if (before != null) {
        unindex(before, index.apply(object.value()));
      }
      String value = index.apply(object.value());
      if (!value.isEmpty()) {
        indexed
            .computeIfAbsent(value, any -> new ConcurrentHashMap<>())
            .put(object.key(), object.value());
      }
      if (before == null || !before.isSameVersion(object)) {
        tell(object.key(), before == null ? null : before.value(), object.value());
      }
    }

    @Override
    public void deleted(Item<T> last) {
      remove(last.key());
    }

    @Override
    public void unreadable(String namespace, String name, boolean deleted) {
      if (deleted) {
        remove(key(namespace, name));
      } else {
        listed(key(namespace, name));
      }
    }

    @Override
    public void listingEnds() {
      Set<String> listed = listing == null ? Set.of() : listing;
      listing = null;
      objects.keySet().stream().filter(key -> !listed.contains(key)).forEach(this::remove);
    }

    private void listed(String key) {
      if (listing != null) {
        listing.add(key);
      }
    }

    private void remove(String key) {
      Item<T> before = objects.remove(key);
      if (before != null) {
        unindex(before, "");
        tell(key, before.value(), null);
      }
    }

    private void unindex(Item<T> before, String now) {
      String value = index.apply(before.value());
      if (!value.equals(now)) {
        indexed.computeIfPresent(
            value,
            (any, items) -> {
              items.remove(before.key());
              return items.isEmpty() ? null : items;
            });
      }
    }

    private void tell(String key, @Nullable T before, @Nullable T after) {
      observers.tell(key, observer -> observer.changed(before, after));
    }

    private static String key(String namespace, String name) {
      return namespace.isEmpty() ? name : namespace + "/" + name;
    }
  }
}
