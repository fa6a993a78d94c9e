package dev.sluice.jobs.importer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rules of an import, in their order: the first one that matches an object counts. */
public record ImportRules(List<ImportRule> rules) {

  public ImportRules {
    rules = List.copyOf(rules);
  }

  /** A rule for each value of a label. */
  public static ImportRules ofLabel(String label, Map<String, String> queues) {
    return new ImportRules(
        queues.entrySet().stream()
            .map(
                queue -> new ImportRule(Map.of(label, queue.getKey()), "", queue.getValue(), false))
            .toList());
  }

  /**
   * Reads rules: a list of {@code match} ({@code labels}, {@code priorityClassName}) with {@code
   * toLocalQueue} or {@code skip: true}; or a map from values of the label to LocalQueues.
   *
   * @param label the label whose values a map lists; empty if none was named
   * @throws IllegalArgumentException with a text for people, when it is neither
   */
  public static ImportRules parse(String yaml, String label) {
    JsonNode read;
    try {
      read = JsonMappers.YAML.readTree(yaml);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("is no YAML: " + e.getOriginalMessage(), e);
    }
    if (read.isObject()) {
      if (label.isEmpty()) {
        throw new IllegalArgumentException("is a map, so --queuelabel has to name its label");
      }
      return ofLabel(label, JsonMappers.JSON.convertValue(strings(read), STRINGS));
    }
    if (!read.isArray()) {
      throw new IllegalArgumentException("is neither a list of rules nor a map");
    }
    List<ImportRule> rules = new ArrayList<>();
    for (int i = 0; i < read.size(); i++) {
      rules.add(rule(read.get(i), "[" + i + "]"));
    }
    return new ImportRules(rules);
  }

  private static final com.fasterxml.jackson.core.type.TypeReference<Map<String, String>> STRINGS =
      new com.fasterxml.jackson.core.type.TypeReference<>() {};

  private static JsonNode strings(JsonNode map) {
    map.properties()
        .forEach(
            entry -> {
              if (!entry.getValue().isValueNode()) {
                throw new IllegalArgumentException(entry.getKey() + ": must be a LocalQueue");
              }
            });
    return map;
  }

  private static ImportRule rule(JsonNode rule, String path) {
    boolean skip = rule.path("skip").asBoolean();
    String queue = rule.path("toLocalQueue").asText();
    if (skip == !queue.isEmpty()) {
      throw new IllegalArgumentException(path + ": either toLocalQueue or skip: true is needed");
    }
    return new ImportRule(
        JsonFields.map(rule, "match", "labels"),
        JsonFields.text(rule, "match", "priorityClassName"),
        queue,
        skip);
  }

  /** The rule for an object. */
  Optional<ImportRule> of(Map<String, String> labels, String priorityClass) {
    return rules.stream().filter(rule -> rule.matches(labels, priorityClass)).findFirst();
  }

  /**
   * Which objects go to a LocalQueue.
   *
   * @param labels an object must have these
   * @param priorityClass the core PriorityClass that its pods must name; empty: any
   * @param localQueue the LocalQueue of the object's namespace; empty with {@code skip}
   * @param skip whether such objects are left alone
   */
  public record ImportRule(
      Map<String, String> labels, String priorityClass, String localQueue, boolean skip) {

    public ImportRule {
      labels = Map.copyOf(labels);
    }

    boolean matches(Map<String, String> objectLabels, String objectPriorityClass) {
      return objectLabels.entrySet().containsAll(labels.entrySet())
          && (priorityClass.isEmpty() || priorityClass.equals(objectPriorityClass));
    }
  }
}
