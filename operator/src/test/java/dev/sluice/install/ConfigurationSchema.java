package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationException.ValidationError;
import dev.sluice.api.config.ConfigurationLoader;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The names of all fields of the configuration file, as a schema that allows no others. The
 * operator itself is asked: of an object with a field that it doesn't know, it tells the fields
 * that it knows there.
 */
final class ConfigurationSchema {

  private static final String UNKNOWN = "no-such-field-anywhere";
  private static final String KNOWN = "known here: ";
  private static final String ITEM = "[0]";
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final String version;

  private ConfigurationSchema(String version) {
    this.version = version;
  }

  /** The schema of the whole file. */
  static ObjectNode whole() {
    return whole("v1beta2");
  }

  /** The same of a file that names this version. */
  static ObjectNode whole(String version) {
    return new ConfigurationSchema(version).schema(List.of());
  }

  private ObjectNode schema(List<String> path) {
    List<ValidationError> problems = problems(path);
    Optional<List<String>> fields = fields(problems, String.join(".", path).replace(".[", "["));
    if (fields.isPresent()) {
      ObjectNode schema = JSON.objectNode();
      schema.putArray("type").add("object").add("null");
      schema.put("additionalProperties", false);
      ObjectNode properties = schema.putObject("properties");
      for (String field : new TreeSet<>(fields.get())) {
        List<String> below = with(path, field);
        if (isOfThisVersion(below)) {
          properties.set(field, schema(below));
        }
      }
      return schema;
    }
    ObjectNode schema = JSON.objectNode();
    if (!path.isEmpty() && !path.getLast().equals(ITEM)) {
      ObjectNode items = schema(with(path, ITEM));
      if (!items.isEmpty()) {
        schema.set("items", items);
      }
    }
    return schema;
  }

  private static List<String> with(List<String> path, String last) {
    return Stream.concat(path.stream(), Stream.of(last)).toList();
  }

  /** What the file tells of its fields at a path, if there is an object with fields of its own. */
  private static Optional<List<String>> fields(List<ValidationError> problems, String path) {
    String asked = path.isEmpty() ? UNKNOWN : path + "." + UNKNOWN;
    return problems.stream()
        .filter(problem -> problem.path().equals(asked) && problem.message().contains(KNOWN))
        .findFirst()
        .map(problem -> problem.message().substring(problem.message().indexOf(KNOWN)))
        .map(message -> List.of(message.substring(KNOWN.length()).split(", ")));
  }

  private boolean isOfThisVersion(List<String> path) {
    return problems(path).stream()
        .noneMatch(
            problem ->
                problem.path().equals(String.join(".", path).replace(".[", "["))
                    && problem.message().startsWith("unknown field"));
  }

  /** What is wrong with a file that has the unknown field in the object at a path, and no more. */
  private List<ValidationError> problems(List<String> path) {
    JsonNode node = JSON.objectNode().put(UNKNOWN, 1);
    for (String name : path.reversed()) {
      if (name.equals(ITEM)) {
        ArrayNode list = JSON.arrayNode();
        node = list.add(node);
      } else {
        node = JSON.objectNode().set(name, node);
      }
    }
    ObjectNode file = (ObjectNode) node;
    if (!file.has("apiVersion")) {
      file.put("apiVersion", "config.kueue.x-k8s.io/" + version);
    }
    if (!file.has("kind")) {
      file.put("kind", "Configuration");
    }
    try {
      ConfigurationLoader.parse(file.toString(), "", () -> "x");
      return List.of();
    } catch (ConfigurationException e) {
      return e.problems();
    }
  }
}
