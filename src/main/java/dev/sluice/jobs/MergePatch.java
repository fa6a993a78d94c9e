package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** JSON merge patches (RFC 7396). */
public final class MergePatch {

  private MergePatch() {}

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
}
