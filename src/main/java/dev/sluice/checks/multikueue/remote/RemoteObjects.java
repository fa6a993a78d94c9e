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
 * What a worker cluster has of the objects that this manager made there, as fresh as the watch. It
 * outlives connections: while a cluster is lost, it holds what was last seen. Nobody changes the
 * objects.
 */
public final class RemoteObjects {

  private final Map<Key, JsonNode> objects = new ConcurrentHashMap<>();

  /** Names an object. */
  public record Key(String namespace, String name) {

    /** The key of an object. */
    public static Key of(JsonNode object) {
      JsonNode metadata = object.path("metadata");
      return new Key(metadata.path("namespace").asText(""), metadata.path("name").asText(""));
    }
  }

  /** Is told of changes. */
  public interface Changes {

    /** An object appeared ({@code before} is null), changed, or went ({@code after} is null). */
    void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after);
  }

  /** The object of this key, if it was there when last seen. */
  public Optional<JsonNode> find(Key key) {
    return Optional.ofNullable(objects.get(key));
  }

  /** All of them; a moving target, without order. */
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

  /** A listing is complete: what is not in it is gone. */
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
