package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Holds an object to the schema of a definition as the API server does, but for the rules that are
 * expressions ({@code x-kubernetes-validations}).
 */
final class SchemaValidator {

  private final List<String> problems = new ArrayList<>();
  private final List<String> unknown = new ArrayList<>();

  private SchemaValidator() {}

  /** What the schema forbids in the object, each with its path; empty if the object is good. */
  static List<String> problems(JsonNode schema, JsonNode object) {
    var validator = new SchemaValidator();
    validator.value(schema, object, "");
    return validator.problems;
  }

  /** Paths of the object's fields that the schema doesn't know, which the API server removes. */
  static List<String> unknownFields(JsonNode schema, JsonNode object) {
    var validator = new SchemaValidator();
    validator.value(schema, object, "");
    return validator.unknown;
  }

  private void value(JsonNode schema, JsonNode value, String path) {
    if (!hasType(schema, value)) {
      problems.add("%s: %s has the wrong type".formatted(path, value));
      return;
    }
    JsonNode choices = schema.path("enum");
    check(
        choices.isMissingNode() || choices.valueStream().anyMatch(value::equals),
        path,
        value,
        choices);
    switch (value.getNodeType()) {
      case STRING -> text(schema, value.asText(), path);
      case NUMBER -> number(schema, value, path);
      case ARRAY -> list(schema, value, path);
      case OBJECT -> object(schema, value, path);
      default -> {}
    }
  }

  private static boolean hasType(JsonNode schema, JsonNode value) {
    if (schema.path("x-kubernetes-int-or-string").asBoolean()) {
      return value.isIntegralNumber() || value.isTextual();
    }
    return switch (schema.path("type").asText()) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "integer" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "boolean" -> value.isBoolean();
      default -> throw new IllegalStateException("no type in " + schema);
    };
  }

  private void text(JsonNode schema, String text, String path) {
    check(within(schema, "minLength", "maxLength", text.length()), path, text, "its length");
    check(
        !schema.has("pattern")
            || Pattern.compile(schema.get("pattern").asText()).matcher(text).find(),
        path,
        text,
        schema.path("pattern"));
    if (schema.path("format").asText().equals("date-time")) {
      try {
        OffsetDateTime.parse(text);
      } catch (DateTimeParseException e) {
        problems.add("%s: %s is no date-time".formatted(path, text));
      }
    }
  }

  private void number(JsonNode schema, JsonNode value, String path) {
    check(
        value.doubleValue() >= schema.path("minimum").asDouble(Double.NEGATIVE_INFINITY),
        path,
        value,
        "its minimum");
    boolean small = schema.path("format").asText().equals("int32");
    check(!small || value.canConvertToInt(), path, value, "int32");
  }

  private void list(JsonNode schema, JsonNode value, String path) {
    check(within(schema, "minItems", "maxItems", value.size()), path, value.size(), "its length");
    String type = schema.path("x-kubernetes-list-type").asText();
    JsonNode keys = schema.path("x-kubernetes-list-map-keys");
    Set<Object> seen = new HashSet<>();
    for (int index = 0; index < value.size(); index++) {
      JsonNode item = value.get(index);
      Object identity =
          type.equals("map")
              ? keys.valueStream().map(key -> item.path(key.asText())).toList()
              : item;
      boolean repeated = !seen.add(identity) && (type.equals("map") || type.equals("set"));
      check(!repeated, path, item, "items that differ");
      value(schema.path("items"), item, "%s[%d]".formatted(path, index));
    }
  }

  private void object(JsonNode schema, JsonNode value, String path) {
    JsonNode properties = schema.path("properties");
    JsonNode values = schema.path("additionalProperties");
    check(within(schema, "minProperties", "maxProperties", value.size()), path, value, "its size");
    for (JsonNode name : schema.path("required")) {
      boolean given = value.has(name.asText()) || properties.at("/" + name.asText()).has("default");
      check(given, path, "nothing", "required " + name.asText());
    }
    for (var field : value.properties()) {
      String below = path.isEmpty() ? field.getKey() : path + "." + field.getKey();
      if (properties.has(field.getKey())) {
        value(properties.get(field.getKey()), field.getValue(), below);
      } else if (values.isObject()) {
        value(values, field.getValue(), below);
      } else if (!schema.path("x-kubernetes-preserve-unknown-fields").asBoolean()
          && !(path.isEmpty() && Set.of("apiVersion", "kind").contains(field.getKey()))
          && !path.equals("metadata")
          && !below.equals("metadata")) {
        unknown.add(below);
      }
    }
  }

  private static boolean within(JsonNode schema, String least, String most, int size) {
    return size >= schema.path(least).asInt(0)
        && size <= schema.path(most).asInt(Integer.MAX_VALUE);
  }

  private void check(boolean good, String path, Object value, Object allowed) {
    if (!good) {
      problems.add("%s: %s breaks %s".formatted(path, value, allowed));
    }
  }
}
