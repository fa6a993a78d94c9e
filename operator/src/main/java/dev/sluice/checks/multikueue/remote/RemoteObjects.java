package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Objects of one kind in a worker cluster, as the watch last saw them. Kept as JSON without managed
 * fields, and charged to the worker's {@link RemoteBudget}; whoever asks for an object gets a tree
 * of its own. The store outlives connections: while a cluster is lost, it keeps the last known
 * objects. One thread writes at a time; any thread reads.
 */
public final class RemoteObjects {

  private static final Logger LOG = LoggerFactory.getLogger(RemoteObjects.class);

  private final RemoteBudget budget;
  private final Function<JsonNode, String> index;
  private final Map<Key, Kept> objects = new ConcurrentHashMap<>();
  private final Map<String, Set<Key>> indexed = new ConcurrentHashMap<>();
  private volatile boolean listed;

  private record Kept(byte[] json, String indexValue) {

    long bytes() {
      return json.length + RemoteLimits.OBJECT_OVERHEAD;
    }
  }

  /** Namespace and name of an object. */
  public record Key(String namespace, String name) {

    private static final int LONGEST = 253;

    /** Whether an API server can have an object of this key. */
    boolean isPossible() {
      return !name.isEmpty() && name.length() <= LONGEST && namespace.length() <= LONGEST;
    }

    /** The key of an object. */
    public static Key of(JsonNode object) {
      JsonNode metadata = object.path("metadata");
      return new Key(metadata.path("namespace").asText(""), metadata.path("name").asText(""));
    }
  }

  /** Listener for changes. */
  public interface Changes {

    /**
     * An object was added ({@code before} is null), changed, or was deleted ({@code after} is
     * null).
     */
    void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after);
  }

  /**
   * An empty store.
   *
   * @param index the value by which an object is found with {@link #with}; empty for none
   */
  public RemoteObjects(RemoteBudget budget, Function<JsonNode, String> index) {
    this.budget = budget;
    this.index = index;
  }

  RemoteBudget budget() {
    return budget;
  }

  /** The object of this key, as last seen; a copy. */
  public Optional<JsonNode> find(Key key) {
    return Optional.ofNullable(objects.get(key)).map(this::tree);
  }

  /**
   * Whether all objects were listed at least once, so that what isn't found wasn't there when the
   * cluster was last seen.
   */
  public boolean listed() {
    return listed;
  }

  /** The keys of all objects; a live, unordered view. */
  public Set<Key> keys() {
    return Collections.unmodifiableSet(objects.keySet());
  }

  /** The keys of the objects with this value of the index. */
  public List<Key> with(String indexValue) {
    return List.copyOf(indexed.getOrDefault(indexValue, Set.of()));
  }

  /** The objects with this value of the index, each with a tree of its own. */
  public Stream<JsonNode> objectsWith(String indexValue) {
    return with(indexValue).stream().flatMap(key -> find(key).stream());
  }

  /** The value of the index of an object; empty if it has none or doesn't exist. */
  public String indexOf(Key key) {
    Kept kept = objects.get(key);
    return kept == null ? "" : kept.indexValue();
  }

  private JsonNode tree(Kept kept) {
    try {
      return budget.mapper().readTree(kept.json());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The object exists in this version.
   *
   * @return whether it is kept; otherwise its namespace would have more than its share, and the
   *     last known version stays
   * @throws RemoteLimitException when the worker would have more than its share; the last known
   *     version stays
   */
  boolean seen(ObjectNode object, Changes changes) throws RemoteLimitException {
    if (object.path("metadata") instanceof ObjectNode metadata) {
      metadata.remove("managedFields");
    }
    Key key = Key.of(object);
    Kept kept = new Kept(json(object), index.apply(object));
    Kept before = objects.get(key);
    if (before != null && Arrays.equals(before.json(), kept.json())) {
      return true;
    }
    if (!budget.charge(key.namespace(), kept.bytes() - (before == null ? 0 : before.bytes()))) {
      return false;
    }
    if (before != null) {
      unindex(key, before);
    }
    objects.put(key, kept);
    if (!kept.indexValue().isEmpty()) {
      indexed.computeIfAbsent(kept.indexValue(), value -> ConcurrentHashMap.newKeySet()).add(key);
    }
    tell(changes, key, before, object);
    return true;
  }

  private byte[] json(ObjectNode object) {
    try {
      return budget.mapper().writeValueAsBytes(object);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void unindex(Key key, Kept before) {
    indexed.computeIfPresent(
        before.indexValue(),
        (value, keys) -> {
          keys.remove(key);
          return keys.isEmpty() ? null : keys;
        });
  }

  void deleted(Key key, Changes changes) {
    Kept before = objects.remove(key);
    if (before != null) {
      unindex(key, before);
      budget.release(key.namespace(), before.bytes());
      tell(changes, key, before, null);
    }
  }

  /** What somebody makes of one object must not end the reading of all. */
  private void tell(Changes changes, Key key, @Nullable Kept before, @Nullable ObjectNode after) {
    try {
      changes.changed(key, before == null ? null : tree(before), after);
    } catch (RuntimeException | Error e) {
      LOG.error("object={}/{} told=false", key.namespace(), key.name(), e);
    }
  }

  /** Called after a complete listing: removes every object that is not in {@code present}. */
  void retain(Set<Key> present, Changes changes) {
    for (Key key : Set.copyOf(objects.keySet())) {
      if (!present.contains(key)) {
        deleted(key, changes);
      }
    }
    listed = true;
  }

  /** Forgets everything without telling anybody, and gives the budget back. */
  void clear() {
    budget.reading().lock();
    try {
      retain(Set.of(), (key, before, after) -> {});
      listed = false;
    } finally {
      budget.reading().unlock();
    }
  }
}
