package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.access.WorkerAccess.InvalidAccessException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A parsed kubeconfig: access to its lists by name and to its fields by type. */
final class KubeconfigTree {

  private final JsonNode root;

  private KubeconfigTree(JsonNode root) {
    this.root = root;
  }

  /**
   * An entry of one of the lists.
   *
   * @param path path of the entry for messages, such as {@code users[admin].user}
   * @param fields content of the entry
   */
  record Entry(String path, JsonNode fields) {

    String path(String field) {
      return path + "." + field;
    }

    /** Whether the field is set; null, false and empty values count as not set. */
    boolean isSet(String field) {
      JsonNode value = fields.path(field);
      return value.isContainerNode()
          ? true
          : !value.isMissingNode()
              && !value.isNull()
              && !value.asText().isEmpty()
              && !(value.isBoolean() && !value.booleanValue());
    }

    /** A text field; empty if it is absent or empty. */
    Optional<String> text(String field) throws InvalidAccessException {
      JsonNode value = fields.path(field);
      if (value.isMissingNode() || value.isNull()) {
        return Optional.empty();
      }
      if (!value.isTextual()) {
        throw InvalidAccessException.bad(path(field), "is not text", "a text");
      }
      return Optional.of(value.textValue()).filter(text -> !text.isEmpty());
    }
  }

  /** Parses a YAML or JSON text. */
  static KubeconfigTree parse(String text) throws InvalidAccessException {
    ObjectMapper mapper = JsonMappers.STRICT_YAML;
    try {
      JsonNode root = mapper.readTree(text);
      if (root == null || !root.isObject()) {
        throw InvalidAccessException.bad(
            "kubeconfig", "is not an object", "a kubeconfig in YAML or JSON");
      }
      return new KubeconfigTree(root);
    } catch (JsonProcessingException e) {
      throw InvalidAccessException.bad(
          "kubeconfig", "can't be parsed" + line(e), "a kubeconfig in YAML or JSON");
    }
  }

  /** Only the line number: the text of the line may contain a secret. */
  private static String line(JsonProcessingException e) {
    return e.getLocation() == null ? "" : ", see line " + e.getLocation().getLineNr();
  }

  /** The name of the current context. */
  Optional<String> currentContext() throws InvalidAccessException {
    return new Entry("kubeconfig", root).text("current-context");
  }

  /**
   * The entries of a list, by name.
   *
   * @param field the field of each list element that holds the content
   */
  Map<String, Entry> entries(String list, String field) throws InvalidAccessException {
    JsonNode array = root.path(list);
    if (array.isMissingNode() || array.isNull()) {
      return Map.of();
    }
    if (!array.isArray()) {
      throw InvalidAccessException.bad(
          list, "is not a list", "a list of entries with a name and a " + field);
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    for (JsonNode each : array) {
      String name = each.path("name").asText("");
      String path = list + "[" + name + "]";
      JsonNode fields = each.path(field);
      if (!fields.isObject() && !fields.isNull() && !fields.isMissingNode()) {
        throw InvalidAccessException.bad(path + "." + field, "is not an object", "an object");
      }
      if (entries.put(name, new Entry(path + "." + field, fields)) != null) {
        throw InvalidAccessException.bad(path, "is given twice", "each name once");
      }
    }
    return entries;
  }

  /**
   * The entry of this name.
   *
   * @param field the field that refers to the entry, for messages
   */
  static Entry find(Map<String, Entry> entries, String name, String field)
      throws InvalidAccessException {
    Entry found = entries.get(name);
    if (found == null) {
      List<String> names = new ArrayList<>(entries.keySet());
      throw InvalidAccessException.bad(
          field,
          "\"" + name + "\" is not defined",
          names.isEmpty() ? "a name that is defined; none is" : String.join(", ", names));
    }
    return found;
  }
}
