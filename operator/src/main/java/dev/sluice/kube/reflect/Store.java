package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one collection, as a {@link Reflector} last saw them. The store keeps what its
 * parser makes of an object, and drops the object. An object that can't be parsed stays as it was
 * known. Observers are called on the reflector's thread, after the store has the change. Readable
 * from any thread.
 *
 * @param <T> what is kept of an object
 */
public final class Store<T> implements Reflector.Sink<Store.Item<T>> {

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
