package dev.sluice.api.json;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads and moves fields of JSON objects that nobody has validated: missing fields and fields of
 * another type count as empty; no method throws.
 */
public final class JsonFields {

  private JsonFields() {}

  /** The node at a path of fields; a missing node if a field is absent or null. */
  public static JsonNode at(JsonNode node, String... fields) {
    JsonNode found = node;
    for (String field : fields) {
      found = found.path(field);
    }
    return found.isNull() ? MissingNode.getInstance() : found;
  }

  /** The text at a path of fields; empty if there is none. */
  public static String text(JsonNode node, String... fields) {
    JsonNode found = at(node, fields);
    return found.isTextual() ? found.textValue() : "";
  }

  /** Whether there is a value other than null at a path of fields. */
  public static boolean isPresent(JsonNode node, String... fields) {
    return !at(node, fields).isMissingNode();
  }

  /** The elements of a list. */
  public static List<JsonNode> list(JsonNode node, String... fields) {
    List<JsonNode> elements = new ArrayList<>();
    JsonNode found = at(node, fields);
    if (found.isArray()) {
      found.forEach(elements::add);
    }
    return elements;
  }

  /** The elements of a list of strings. */
  public static List<String> texts(JsonNode node, String... fields) {
    return list(node, fields).stream().map(JsonNode::asText).toList();
  }

  /** The entries of a map of strings, in document order. */
  public static Map<String, String> map(JsonNode node, String... fields) {
    Map<String, String> entries = new LinkedHashMap<>();
    at(node, fields).properties().forEach(it -> entries.put(it.getKey(), it.getValue().asText()));
    return entries;
  }

  /** The labels of an object. */
  public static Map<String, String> labels(JsonNode object) {
    return map(object, "metadata", "labels");
  }

  /** The annotations of an object. */
  public static Map<String, String> annotations(JsonNode object) {
    return map(object, "metadata", "annotations");
  }

  /** The time that a text says; empty if the value says none. */
  public static Optional<Instant> time(JsonNode text) {
    try {
      return text.isTextual() ? Optional.of(Instant.parse(text.asText())) : Optional.empty();
    } catch (DateTimeParseException notATime) {
      return Optional.empty();
    }
  }

  /** Whether the condition of this type is True. */
  public static boolean isTrue(JsonNode object, String type) {
    return list(object, "status", "conditions").stream()
        .anyMatch(it -> text(it, "type").equals(type) && text(it, "status").equals("True"));
  }

  /** The node if it is an object, else an empty one that belongs to nobody. */
  public static ObjectNode object(@Nullable JsonNode node) {
    return node instanceof ObjectNode object ? object : JsonNodeFactory.instance.objectNode();
  }

  /** The node if it is an array, else an empty one that belongs to nobody. */
  public static ArrayNode array(@Nullable JsonNode node) {
    return node instanceof ArrayNode array ? array : JsonNodeFactory.instance.arrayNode();
  }

  /** The object in a field; a new one takes the place of anything else. */
  public static ObjectNode child(ObjectNode parent, String field) {
    return parent.get(field) instanceof ObjectNode present ? present : parent.putObject(field);
  }

  /** Gives a field another name, if it is there. */
  public static void rename(ObjectNode object, String from, String to) {
    move(object, from, object, to);
  }

  /** Moves a field to another object, if it is there. */
  public static void move(ObjectNode source, String from, ObjectNode target, String to) {
    JsonNode value = source.remove(from);
    if (value != null && !value.isNull()) {
      target.set(to, value);
    }
  }

  /** Moves all fields but the given ones to another object. */
  public static void moveAllBut(ObjectNode source, Collection<String> staying, ObjectNode target) {
    for (var field : source.deepCopy().properties()) {
      if (!staying.contains(field.getKey())) {
        move(source, field.getKey(), target, field.getKey());
      }
    }
  }

  /** Sets each field of {@code source} that {@code target} doesn't have. */
  public static void fill(ObjectNode target, ObjectNode source) {
    for (var field : source.properties()) {
      if (!target.has(field.getKey())) {
        target.set(field.getKey(), field.getValue().deepCopy());
      }
    }
  }

  /** Sets the field unless the value has nothing in it. */
  public static void setUnlessEmpty(ObjectNode object, String field, JsonNode value) {
    if (!value.isEmpty()) {
      object.set(field, value);
    }
  }

  /**
   * The item whose field {@code name} has the given text, or an empty object that belongs to
   * nobody.
   */
  public static ObjectNode named(JsonNode items, String name) {
    for (JsonNode item : items) {
      if (item.path("name").asText().equals(name)) {
        return object(item);
      }
    }
    return object(null);
  }
}
