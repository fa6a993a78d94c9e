package dev.sluice.kube.json;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Comparator;
import java.util.Map;

/** JSON merge patches (RFC 7396): made of two states, and recognized as applied. */
public final class JsonMergePatch {

  /** Numbers are as large as they are, in whatever type Java has them: 3 that was read is 3L. */
  private static final Comparator<JsonNode> BY_VALUE =
      (one, other) ->
          one.isNumber() && other.isNumber()
              ? one.decimalValue().compareTo(other.decimalValue())
              : one.equals(other) ? 0 : 1;

  private JsonMergePatch() {}

  /** The smallest merge patch that makes {@code after} of {@code before}; empty when equal. */
  public static ObjectNode between(JsonNode before, JsonNode after) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    for (Map.Entry<String, JsonNode> field : before.properties()) {
      if (!after.has(field.getKey())) {
        patch.putNull(field.getKey());
      }
    }
    for (Map.Entry<String, JsonNode> field : after.properties()) {
      JsonNode old = before.path(field.getKey());
      JsonNode now = field.getValue();
      if (old.isObject() && now.isObject()) {
        ObjectNode inner = between(old, now);
        if (!inner.isEmpty()) {
          patch.set(field.getKey(), inner);
        }
      } else if (!old.equals(now)) {
        patch.set(field.getKey(), now.deepCopy());
      }
    }
    return patch;
  }

  /** What becomes of an object by a patch; the object stays as it is. */
  public static ObjectNode applied(ObjectNode object, ObjectNode patch) {
    ObjectNode result = object.deepCopy();
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      JsonNode wanted = field.getValue();
      if (wanted.isNull()) {
        result.remove(field.getKey());
      } else if (wanted instanceof ObjectNode inner) {
        ObjectNode present =
            result.path(field.getKey()) instanceof ObjectNode known
                ? known
                : JsonNodeFactory.instance.objectNode();
        result.set(field.getKey(), applied(present, inner));
      } else {
        result.set(field.getKey(), wanted.deepCopy());
      }
    }
    return result;
  }

  /** Whether applying {@code patch} to {@code current} would change nothing. */
  public static boolean isContained(JsonNode patch, JsonNode current) {
    if (!patch.isObject()) {
      return patch.equals(BY_VALUE, current);
    }
    if (!current.isObject() && !(current.isMissingNode() && isOnlyRemovals(patch))) {
      return false;
    }
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      JsonNode now = current.path(field.getKey());
      JsonNode wanted = field.getValue();
      boolean same =
          wanted.isNull() ? now.isMissingNode() || now.isNull() : isContained(wanted, now);
      if (!same) {
        return false;
      }
    }
    return true;
  }

  private static boolean isOnlyRemovals(JsonNode patch) {
    for (JsonNode value : patch) {
      if (!value.isNull()) {
        return false;
      }
    }
    return true;
  }
}
