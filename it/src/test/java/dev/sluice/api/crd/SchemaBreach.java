package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One way to break one constraint of a schema.
 *
 * @param at the field
 * @param keyword the constraint's name in the schema
 * @param missing the property to leave out, or null to replace the value
 * @param bad the value that breaks it, where none is left out
 * @param good values at the limit that keep it
 * @param says what the API server says of the bad one
 */
record SchemaBreach(
    SchemaPlace at,
    String keyword,
    @Nullable String missing,
    JsonNode bad,
    List<JsonNode> good,
    String says) {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** What describes a field and doesn't constrain it, or is tried with the keyword beside it. */
  private static final Set<String> DESCRIBE =
      Set.of(
          "description",
          "properties",
          "items",
          "additionalProperties",
          "default",
          "anyOf",
          "x-kubernetes-list-map-keys",
          "x-kubernetes-map-type",
          "x-kubernetes-preserve-unknown-fields",
          "x-kubernetes-validations");

  /** The ways to break each constraint of a field, given a value that keeps them all. */
  static List<SchemaBreach> of(SchemaPlace place, JsonNode value) {
    List<SchemaBreach> breaches = new ArrayList<>();
    for (var constraint : place.schema().properties()) {
      boolean whole = place.steps().isEmpty() && constraint.getKey().equals("type");
      if (!whole && !DESCRIBE.contains(constraint.getKey())) {
        add(place, constraint.getKey(), constraint.getValue(), value, breaches);
      }
    }
    return breaches;
  }

  private static void add(
      SchemaPlace place,
      String keyword,
      JsonNode limit,
      JsonNode value,
      List<SchemaBreach> breaches) {
    switch (keyword) {
      case "type" -> breaches.add(type(place, limit.asText()));
      case "x-kubernetes-int-or-string" ->
          breaches.add(broken(place, keyword, JSON.booleanNode(true), "must be of type"));
      case "minimum" ->
          breaches.add(
              broken(
                  place,
                  keyword,
                  JSON.numberNode(limit.asLong() - 1),
                  "should be greater than or equal to " + limit.asLong(),
                  JSON.numberNode(limit.asLong())));
      case "pattern" ->
          breaches.add(broken(place, keyword, JSON.textNode("~ no ~"), "should match"));
      case "enum" -> breaches.add(oneOf(place, (ArrayNode) limit));
      case "minLength" ->
          breaches.add(
              broken(
                  place,
                  keyword,
                  text(limit.asInt() - 1),
                  "should be at least " + limit.asInt() + " chars long",
                  text(limit.asInt())));
      case "maxLength" ->
          breaches.add(
              broken(
                  place,
                  keyword,
                  text(limit.asInt() + 1),
                  "may not be more than " + limit.asInt(),
                  text(limit.asInt())));
      case "minItems" ->
          breaches.add(
              broken(
                  place,
                  keyword,
                  JSON.arrayNode(),
                  "should have at least " + limit.asInt() + " items"));
      case "maxItems" -> breaches.add(tooMany(place, limit.asInt(), value));
      case "maxProperties" ->
          breaches.add(
              broken(
                  place,
                  keyword,
                  map(limit.asInt() + 1),
                  "must have at most " + limit.asInt(),
                  map(limit.asInt())));
      case "required" -> limit.forEach(name -> required(place, name.asText(), breaches));
      case "format" -> format(place, limit.asText(), breaches);
      case "x-kubernetes-list-type" -> repeated(place, limit.asText(), value, breaches);
      default -> throw new IllegalStateException(place + ": no way to break " + keyword);
    }
  }

  private static SchemaBreach type(SchemaPlace place, String type) {
    JsonNode bad =
        type.equals("string") || type.equals("boolean")
            ? JSON.numberNode(7)
            : JSON.textNode("no " + type);
    boolean date = place.schema().path("format").asText().equals("date-time");
    return broken(place, "type", bad, "must be of type " + (date ? "date-time" : type));
  }

  private static SchemaBreach oneOf(SchemaPlace place, ArrayNode values) {
    return broken(
        place,
        "enum",
        JSON.textNode("No"),
        "supported values: " + String.join(", ", texts(values)),
        values.valueStream().toArray(JsonNode[]::new));
  }

  private static List<String> texts(ArrayNode values) {
    return values.valueStream().map(value -> '"' + value.asText() + '"').toList();
  }

  private static SchemaBreach tooMany(SchemaPlace place, int limit, JsonNode value) {
    return broken(
        place,
        "maxItems",
        items(place, value, limit + 1),
        "must have at most " + limit + " items",
        items(place, value, limit));
  }

  private static ArrayNode items(SchemaPlace place, JsonNode value, int count) {
    ArrayNode items = JSON.arrayNode();
    for (int index = 0; index < count; index++) {
      JsonNode item = value.path(0).deepCopy();
      if (item instanceof ObjectNode object) {
        for (JsonNode key : place.schema().path("x-kubernetes-list-map-keys")) {
          object.put(key.asText(), "n" + index);
        }
        items.add(object);
      } else {
        items.add(item.isTextual() ? JSON.textNode("n" + index) : item);
      }
    }
    return items;
  }

  private static void required(SchemaPlace place, String name, List<SchemaBreach> breaches) {
    if (!place.schema().path("properties").path(name).has("default")) {
      breaches.add(
          new SchemaBreach(place, "required", name, JSON.nullNode(), List.of(), "Required value"));
    }
  }

  private static void format(SchemaPlace place, String format, List<SchemaBreach> breaches) {
    switch (format) {
      case "int32" ->
          breaches.add(
              broken(
                  place,
                  "format",
                  JSON.numberNode(1L << 31),
                  "int32",
                  JSON.numberNode(Integer.MAX_VALUE)));
      case "date-time" ->
          breaches.add(broken(place, "format", JSON.textNode("yesterday"), "date-time"));
      case "int64" -> {
        // A number that is larger can't be read as JSON by the API server at all.
      }
      default -> throw new IllegalStateException(place + ": no way to break format " + format);
    }
  }

  private static void repeated(
      SchemaPlace place, String listType, JsonNode value, List<SchemaBreach> breaches) {
    if (!listType.equals("atomic")) {
      ArrayNode twice = JSON.arrayNode().add(value.path(0)).add(value.path(0));
      breaches.add(broken(place, "x-kubernetes-list-type", twice, "Duplicate value"));
    }
  }

  private static SchemaBreach broken(
      SchemaPlace place, String keyword, JsonNode bad, String says, JsonNode... good) {
    return new SchemaBreach(place, keyword, null, bad, List.of(good), says);
  }

  private static JsonNode text(int length) {
    return JSON.textNode("a".repeat(length));
  }

  private static JsonNode map(int size) {
    ObjectNode map = JSON.objectNode();
    for (int index = 0; index < size; index++) {
      map.put("k" + index, "v");
    }
    return map;
  }

  /** Where the API server sees the breach, given where the value is. */
  String path(String path) {
    String below = missing == null ? "" : missing;
    String last = keyword.equals("x-kubernetes-list-type") ? "[1]" : "";
    return path + (path.isEmpty() || below.isEmpty() ? "" : ".") + below + last;
  }

  @Override
  public String toString() {
    return "%s: %s%s".formatted(at, keyword, missing == null ? "" : " " + missing);
  }
}
