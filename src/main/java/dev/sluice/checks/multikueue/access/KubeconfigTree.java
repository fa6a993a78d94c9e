package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A kubeconfig as a tree: its lists by name, its fields by type. */
final class KubeconfigTree {

  private final JsonNode root;

  private KubeconfigTree(JsonNode root) {
    this.root = root;
  }

  /**
   * An entry of one of the lists.
   *
   * @param path how people find it, such as {@code users[admin].user}
   * @param fields what it holds
   */
  record Entry(String path, JsonNode fields) {

    String path(String field) {
      return path + "." + field;
    }

    /** Whether the field is there and says anything: null, false and empty say nothing. */
    boolean says(String field) {
      JsonNode value = fields.path(field);
      return value.isContainerNode()
          ? true
          : !value.isMissingNode()
              && !value.isNull()
              && !value.asText().isEmpty()
              && !(value.isBoolean() && !value.booleanValue());
    }

    /** A text; empty if it is absent or empty. */
    Optional<String> text(String field) throws InvalidAccessException {
      JsonNode value = fields.path(field);
      if (value.isMissingNode() || value.isNull()) {
        return Optional.empty();
      }
      if (!value.isTextual()) {
        throw InvalidAccessException.bad(path(field), "is no text", "a text");
      }
      return Optional.of(value.textValue()).filter(text -> !text.isEmpty());
    }
  }

  /** The tree of a YAML or JSON text. */
  static KubeconfigTree parse(String text) throws InvalidAccessException {
    ObjectMapper mapper =
        new ObjectMapper(new YAMLFactory()).enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
    try {
      JsonNode root = mapper.readTree(text);
      if (root == null || !root.isObject()) {
        throw InvalidAccessException.bad(
            "kubeconfig", "is no object", "a kubeconfig in YAML or JSON");
      }
      return new KubeconfigTree(root);
    } catch (JsonProcessingException e) {
      throw InvalidAccessException.bad(
          "kubeconfig", "can't be parsed" + line(e), "a kubeconfig in YAML or JSON");
    }
  }

  /** Only the place: what stands there may be a secret. */
  private static String line(JsonProcessingException e) {
    return e.getLocation() == null ? "" : ", see line " + e.getLocation().getLineNr();
  }

  /** The name of the context that counts. */
  Optional<String> currentContext() throws InvalidAccessException {
    return new Entry("kubeconfig", root).text("current-context");
  }

  /**
   * A list by the names of its entries.
   *
   * @param field where the contents of an entry are
   */
  Map<String, Entry> entries(String list, String field) throws InvalidAccessException {
    JsonNode array = root.path(list);
    if (array.isMissingNode() || array.isNull()) {
      return Map.of();
    }
    if (!array.isArray()) {
      throw InvalidAccessException.bad(
          list, "is no list", "a list of entries with a name and a " + field);
    }
    Map<String, Entry> entries = new LinkedHashMap<>();
    for (JsonNode each : array) {
      String name = each.path("name").asText("");
      String path = list + "[" + name + "]";
      JsonNode fields = each.path(field);
      if (!fields.isObject() && !fields.isNull() && !fields.isMissingNode()) {
        throw InvalidAccessException.bad(path + "." + field, "is no object", "an object");
      }
      if (entries.put(name, new Entry(path + "." + field, fields)) != null) {
        throw InvalidAccessException.bad(path, "is given twice", "each name once");
      }
    }
    return entries;
  }

  /** The entry of a name that another field gives. */
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
