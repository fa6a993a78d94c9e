package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads fields of unvalidated objects: missing fields and fields of another type count as empty.
 */
final class ReviewJson {

  private ReviewJson() {}

  static JsonNode at(JsonNode node, String... fields) {
    JsonNode found = node;
    for (String field : fields) {
      found = found.path(field);
    }
    return found.isNull() ? MissingNode.getInstance() : found;
  }

  static String text(JsonNode node, String... fields) {
    JsonNode found = at(node, fields);
    return found.isTextual() ? found.textValue() : "";
  }

  static boolean isPresent(JsonNode node, String... fields) {
    return !at(node, fields).isMissingNode();
  }

  /** The elements of a list. */
  static List<JsonNode> list(JsonNode node, String... fields) {
    List<JsonNode> elements = new ArrayList<>();
    JsonNode found = at(node, fields);
    if (found.isArray()) {
      found.forEach(elements::add);
    }
    return elements;
  }

  /** The elements of a list of strings. */
  static List<String> texts(JsonNode node, String... fields) {
    return list(node, fields).stream().map(JsonNode::asText).toList();
  }

  /** The entries of a map of strings, in document order. */
  static Map<String, String> map(JsonNode node, String... fields) {
    Map<String, String> entries = new LinkedHashMap<>();
    at(node, fields).properties().forEach(it -> entries.put(it.getKey(), it.getValue().asText()));
    return entries;
  }

  static Map<String, String> labels(JsonNode object) {
    return map(object, "metadata", "labels");
  }

  static Map<String, String> annotations(JsonNode object) {
    return map(object, "metadata", "annotations");
  }

  /** Whether the condition of this type is True. */
  static boolean isTrue(JsonNode object, String type) {
    return list(object, "status", "conditions").stream()
        .anyMatch(it -> text(it, "type").equals(type) && text(it, "status").equals("True"));
  }
}
