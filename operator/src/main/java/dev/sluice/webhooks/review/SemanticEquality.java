package dev.sluice.webhooks.review;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.Quantities;
import java.util.Set;

/**
 * Compares parts of objects by what they mean, because clients write an object back in a form of
 * their own: an absent field and one that is null, an empty text, list or map are the same, and so
 * are two forms of one quantity.
 */
public final class SemanticEquality {

  /** Fields that are maps of quantities. */
  private static final Set<String> QUANTITIES =
      Set.of("resourceUsage", "requests", "limits", "overhead");

  private SemanticEquality() {}

  /** Whether two parts of objects mean the same. */
  public static boolean same(JsonNode one, JsonNode other) {
    return one.equals(other) || canonical(one, false).equals(canonical(other, false));
  }

  private static JsonNode canonical(JsonNode node, boolean quantity) {
    return switch (node) {
      case ObjectNode object -> object(object, quantity);
      case ArrayNode array -> {
        ArrayNode result = JsonNodeFactory.instance.arrayNode();
        array.forEach(element -> result.add(canonical(element, false)));
        yield result;
      }
      default -> quantity ? quantity(node) : node;
    };
  }

  private static ObjectNode object(ObjectNode object, boolean quantities) {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    for (var field : object.properties()) {
      JsonNode value =
          canonical(field.getValue(), quantities || QUANTITIES.contains(field.getKey()));
      if (!isEmpty(value)) {
        result.set(field.getKey(), value);
      }
    }
    return result;
  }

  private static boolean isEmpty(JsonNode value) {
    return value.isNull()
        || (value.isContainerNode() && value.isEmpty())
        || (value.isTextual() && value.textValue().isEmpty());
  }

  private static JsonNode quantity(JsonNode value) {
    if (!value.isTextual() && !value.isNumber()) {
      return value;
    }
    try {
      return TextNode.valueOf(
          Quantities.parse(value.asText()).stripTrailingZeros().toPlainString());
    } catch (IllegalArgumentException notAQuantity) {
      return value;
    }
  }
}
