package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.reflect.CollectionReflector;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Keeps a part of each object of a small collection, and tells of every change once the collection
 * was listed. Readable from any thread.
 */
final class WatchedObjects implements CollectionReflector.Sink<WatchedObjects.Seen> {

  private final UnaryOperator<JsonNode> kept;
  private final Consumer<Map<String, JsonNode>> changed;
  private final Map<String, JsonNode> objects = new ConcurrentHashMap<>();
  private final Map<String, JsonNode> listing = new ConcurrentHashMap<>();
  private boolean lists;
  private boolean listed;

  /** An object by its name, and what is kept of it. */
  record Seen(String name, JsonNode part) {}

  /**
   * Nothing is kept yet.
   *
   * @param kept the part of an object that is kept
   * @param changed is given all objects by name after each change, on the thread that reads
   */
  WatchedObjects(UnaryOperator<JsonNode> kept, Consumer<Map<String, JsonNode>> changed) {
    this.kept = kept;
    this.changed = changed;
  }

  @Override
  public Seen parse(byte[] bytes, int offset, int length) throws IOException {
    JsonNode object = JsonMappers.JSON.readTree(bytes, offset, length);
    return new Seen(object.path("metadata").path("name").asText(), kept.apply(object));
  }

  @Override
  public void listingBegins() {
    listing.clear();
    lists = true;
  }

  @Override
  public void seen(Seen object) {
    if (lists) {
      listing.put(object.name(), object.part());
    } else {
      objects.put(object.name(), object.part());
      tell();
    }
  }

  @Override
  public void deleted(Seen last) {
    objects.remove(last.name());
    tell();
  }

  @Override
  public void listingEnds() {
    lists = false;
    listed = true;
    objects.clear();
    objects.putAll(listing);
    listing.clear();
    tell();
  }

  private void tell() {
    if (listed) {
      changed.accept(Map.copyOf(objects));
    }
  }
}
