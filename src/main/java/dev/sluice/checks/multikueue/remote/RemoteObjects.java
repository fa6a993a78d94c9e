package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The objects that this manager created in a worker cluster, as the watch last saw them. The store
 * outlives connections: while a cluster is lost, it keeps the last known objects. Callers must not
 * modify the objects.
 */
public final class RemoteObjects {

  private final Map<Key, JsonNode> objects = new ConcurrentHashMap<>();

  /** Namespace and name of an object. */
  public record Key(String namespace, String name) {

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

  /** The object of this key, as last seen. */
  public Optional<JsonNode> find(Key key) {
    return Optional.ofNullable(objects.get(key));
  }

  /** All objects; a live, unordered view. */
  public Collection<JsonNode> all() {
    return Collections.unmodifiableCollection(objects.values());
  }

  void seen(ObjectNode object, Changes changes) {
    if (object.path("metadata") instanceof ObjectNode metadata) {
      metadata.remove("managedFields");
    }
    Key key = Key.of(object);
    JsonNode before = objects.put(key, object);
    if (!object.equals(before)) {
      changes.changed(key, before, object);
    }
  }

  void deleted(JsonNode object, Changes changes) {
    Key key = Key.of(object);
    JsonNode before = objects.remove(key);
    if (before != null) {
      changes.changed(key, before, null);
    }
  }

  /** Called after a complete listing: removes every object that is not in {@code listed}. */
  void retain(Set<Key> listed, Changes changes) {
    for (Key key : Set.copyOf(objects.keySet())) {
      if (!listed.contains(key)) {
        JsonNode before = objects.remove(key);
        if (before != null) {
          changes.changed(key, before, null);
        }
      }
    }
  }
}
