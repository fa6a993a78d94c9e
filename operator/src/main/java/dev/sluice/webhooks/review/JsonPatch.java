package dev.sluice.webhooks.review;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.json.JsonFields;
import java.util.List;

/**
 * Modifies a copy of an object and records each change as a JSON patch operation. Adds missing
 * parents, so that the operations can be applied in order. Not thread-safe.
 */
public final class JsonPatch {

  private final ObjectNode object;
  private final ArrayNode operations = JsonNodeFactory.instance.arrayNode();

  /** Starts with a copy of the object; the object itself is not modified. */
  public JsonPatch(JsonNode object) {
    this.object =
        object instanceof ObjectNode node ? node.deepCopy() : JsonNodeFactory.instance.objectNode();
  }

  /** The object with the changes so far; callers must not modify it. */
  public JsonNode object() {
    return object;
  }

  /** The operations so far, in order. */
  public ArrayNode operations() {
    return operations;
  }

  /** Sets the field at this path to a value. */
  public void set(JsonNode value, String... fields) {
    StringBuilder path = new StringBuilder();
    ObjectNode parent = object;
    for (int i = 0; i < fields.length - 1; i++) {
      path.append('/').append(escaped(fields[i]));
      parent = childObject(parent, fields[i], path.toString());
    }
    String last = fields[fields.length - 1];
    String operation = parent.has(last) ? "replace" : "add";
    parent.set(last, value.deepCopy());
    note(operation, path + "/" + escaped(last), value);
  }

  /** Appends a value to a list, unless the list contains it already. */
  public void append(JsonNode value, String... fields) {
    if (JsonFields.list(object, fields).contains(value)) {
      return;
    }
    if (JsonFields.at(object, fields) instanceof ArrayNode existing) {
      existing.add(value.deepCopy());
      StringBuilder path = new StringBuilder();
      List.of(fields).forEach(it -> path.append('/').append(escaped(it)));
      note("add", path + "/-", value);
    } else {
      set(JsonNodeFactory.instance.arrayNode().add(value.deepCopy()), fields);
    }
  }

  /**
   * Appends a value to a list of the object that a pointer leads to, unless the list contains it
   * already or there is no such object.
   */
  public void append(JsonNode value, JsonPointer holder, String field) {
    if (!(object.at(holder) instanceof ObjectNode found)
        || JsonFields.list(found, field).contains(value)) {
      return;
    }
    String path = holder + "/" + escaped(field);
    if (found.get(field) instanceof ArrayNode existing) {
      existing.add(value.deepCopy());
      note("add", path + "/-", value);
    } else {
      found.putArray(field).add(value.deepCopy());
      note("add", path, found.get(field));
    }
  }

  /** Sets the field at this path to a text. */
  public void set(String value, String... fields) {
    set(TextNode.valueOf(value), fields);
  }

  /** Removes a field of a list element, if it is present. */
  public void removeFromElement(String field, int index, String... list) {
    if (JsonFields.at(object, list).path(index) instanceof ObjectNode element
        && element.has(field)) {
      element.remove(field);
      operations
          .addObject()
          .put("op", "remove")
          .put("path", "/" + String.join("/", list) + "/" + index + "/" + escaped(field));
    }
  }

  private ObjectNode childObject(ObjectNode parent, String field, String path) {
    if (parent.get(field) instanceof ObjectNode existing) {
      return existing;
    }
    ObjectNode added = parent.putObject(field);
    note("add", path, JsonNodeFactory.instance.objectNode());
    return added;
  }

  private void note(String operation, String path, JsonNode value) {
    operations.addObject().put("op", operation).put("path", path).set("value", value.deepCopy());
  }

  private static String escaped(String field) {
    return field.replace("~", "~0").replace("/", "~1");
  }
}
