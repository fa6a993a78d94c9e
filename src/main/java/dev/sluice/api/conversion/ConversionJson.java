package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Small moves on JSON trees. */
final class ConversionJson {

  private ConversionJson() {}

  /** The node if it is an object, else an empty one that belongs to nobody. */
  static ObjectNode object(@Nullable JsonNode node) {
    return node instanceof ObjectNode object ? object : JsonNodeFactory.instance.objectNode();
  }

  /** The node if it is an array, else an empty one that belongs to nobody. */
  static ArrayNode array(@Nullable JsonNode node) {
    return node instanceof ArrayNode array ? array : JsonNodeFactory.instance.arrayNode();
  }

  /** Gives a field another name, if it is there. */
  static void rename(ObjectNode object, String from, String to) {
    move(object, from, object, to);
  }

  /** Moves a field to another object, if it is there. */
  static void move(ObjectNode source, String from, ObjectNode target, String to) {
    JsonNode value = source.remove(from);
    if (value != null && !value.isNull()) {
      target.set(to, value);
    }
  }

  /** Moves all fields but the given ones to another object. */
  static void moveAllBut(ObjectNode source, Collection<String> staying, ObjectNode target) {
    for (var field : source.deepCopy().properties()) {
      if (!staying.contains(field.getKey())) {
        move(source, field.getKey(), target, field.getKey());
      }
    }
  }

  /** Sets each field of {@code source} that {@code target} doesn't have. */
  static void fill(ObjectNode target, ObjectNode source) {
    for (var field : source.properties()) {
      if (!target.has(field.getKey())) {
        target.set(field.getKey(), field.getValue().deepCopy());
      }
    }
  }

  /** Sets the field unless the value has nothing in it. */
  static void setUnlessEmpty(ObjectNode object, String field, JsonNode value) {
    if (!value.isEmpty()) {
      object.set(field, value);
    }
  }

  /**
   * The item whose field {@code name} has the given text, or an empty object that belongs to
   * nobody.
   */
  static ObjectNode named(JsonNode items, String name) {
    for (JsonNode item : items) {
      if (item.path("name").asText().equals(name)) {
        return object(item);
      }
    }
    return object(null);
  }
}
