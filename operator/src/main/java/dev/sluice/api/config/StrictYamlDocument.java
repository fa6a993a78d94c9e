package dev.sluice.api.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.math.BigDecimal;

/**
 * Reads one YAML document strictly: fields given twice, aliases, endless numbers and further
 * documents are problems.
 */
final class StrictYamlDocument {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** More than any field can have. */
  private static final int MOST_DIGITS = 1000;

  private final YAMLParser parser;
  private final ValidationErrors errors;

  private StrictYamlDocument(YAMLParser parser, ValidationErrors errors) {
    this.parser = parser;
    this.errors = errors;
  }

  /**
   * The document as a tree. What can't be read is noted in {@code problems}; the tree then holds
   * what was read before.
   */
  static JsonNode read(String yaml, ValidationErrors errors) throws IOException {
    try (YAMLParser parser = new YAMLFactory().createParser(yaml)) {
      return new StrictYamlDocument(parser, errors).whole();
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      String line = at == null ? "" : "line " + at.getLineNr() + ": ";
      errors.add("", line + "not YAML: " + e.getOriginalMessage().lines().findFirst().orElse(""));
      return NODES.missingNode();
    }
  }

  private JsonNode whole() throws IOException {
    JsonToken first = parser.nextToken();
    if (first == null) {
      errors.add("", "the file is empty; at least apiVersion and kind are needed");
      return NODES.missingNode();
    }
    JsonNode root = value(first, "");
    if (parser.nextToken() != null) {
      errors.add("", "line " + line() + ": a second YAML document; only one is allowed");
    }
    return root;
  }

  private JsonNode value(JsonToken token, String path) throws IOException {
    if (parser.isCurrentAlias()) {
      errors.add(path, "line " + line() + ": YAML aliases are not allowed; write the value out");
      return NODES.nullNode();
    }
    return switch (token) {
      case START_OBJECT -> object(path);
      case START_ARRAY -> array(path);
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      case VALUE_NUMBER_INT ->
          parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
              ? NODES.numberNode(parser.getBigIntegerValue())
              : NODES.numberNode(parser.getLongValue());
      case VALUE_NUMBER_FLOAT -> decimal(path);
      case VALUE_NULL -> NODES.nullNode();
      default -> NODES.textNode(parser.getText());
    };
  }

  /** A decimal number; one of more digits would take as many bytes wherever it is written. */
  private JsonNode decimal(String path) throws IOException {
    BigDecimal number = parser.getDecimalValue();
    long before = (long) number.precision() - number.scale();
    if (before > MOST_DIGITS || number.scale() > MOST_DIGITS) {
      errors.add(
          path,
          "%s is not allowed; allowed: a number of at most %d digits before and after the decimal point"
              .formatted(parser.getText(), MOST_DIGITS));
      return NODES.nullNode();
    }
    return NODES.numberNode(number);
  }

  private JsonNode object(String path) throws IOException {
    ObjectNode object = NODES.objectNode();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      String below = ObjectFieldReader.below(path, name);
      int line = line();
      JsonNode value = value(parser.nextToken(), below);
      if (object.has(name)) {
        errors.add(below, "line " + line + ": given twice; each field may be given once");
      } else {
        object.set(name, value);
      }
    }
    return object;
  }

  private JsonNode array(String path) throws IOException {
    ArrayNode array = NODES.arrayNode();
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      array.add(value(token, path + "[" + array.size() + "]"));
    }
    return array;
  }

  private int line() {
    return parser.currentTokenLocation().getLineNr();
  }
}
