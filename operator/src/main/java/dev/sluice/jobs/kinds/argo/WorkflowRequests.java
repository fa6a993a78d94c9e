package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.Quantities;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a Workflow requests: what an annotation says, else the most that its pods can request at a
 * time ({@link TemplatePeaks}). Never throws for what it reads.
 *
 * @param amounts by resource; empty if they are unknown
 * @param unknown why they are unknown; empty if they are known
 */
record WorkflowRequests(SortedMap<String, Long> amounts, Optional<String> unknown) {

  private static final String ANNOTATION = "min-resources";

  private static final int MOST_SHOWN = 64;

  /** What to do where the templates don't tell. */
  private static final String ADVICE = "; annotation kube-queue/" + ANNOTATION + " can say it";

  /** What a Workflow requests, as it was submitted: its status may add templates at any time. */
  static WorkflowRequests of(JsonNode workflow) {
    Optional<String> said = KubeQueueKeys.annotation(JsonFields.annotations(workflow), ANNOTATION);
    try {
      return new WorkflowRequests(
          said.isPresent() ? said(said.get()) : TemplatePeaks.of(workflow), Optional.empty());
    } catch (UnknownRequestException e) {
      return new WorkflowRequests(
          new TreeMap<>(),
          Optional.of("What the Workflow requests is not known: " + e.why() + ADVICE));
    }
  }

  /** A request that nobody can tell before the Workflow runs. */
  static final class UnknownRequestException extends Exception {

    private static final long serialVersionUID = 1;

    private final String why;

    UnknownRequestException(String why) {
      super(why);
      this.why = why;
    }

    String why() {
      return why;
    }
  }

  private static SortedMap<String, Long> said(String text) throws UnknownRequestException {
    Optional<String> length = TextLimits.fault(text);
    if (length.isPresent()) {
      throw new UnknownRequestException("the annotation " + length.get());
    }
    try {
      JsonNode list = JsonMappers.YAML.readTree(text);
      if (list.isObject() && !list.isEmpty()) {
        return amounts(list);
      }
    } catch (JsonProcessingException e) {
      // said below
    }
    throw new UnknownRequestException("the annotation is no list of resources");
  }

  /** Amounts by resource, in the scheduler's units. */
  static SortedMap<String, Long> amounts(JsonNode list) throws UnknownRequestException {
    SortedMap<String, Long> amounts = new TreeMap<>();
    for (Map.Entry<String, JsonNode> each : list.properties()) {
      String text = each.getValue().asText();
      try {
        long amount = Quantities.amount(each.getKey(), text);
        if (amount < 0) {
          throw new UnknownRequestException("\"" + shown(text) + "\" is less than 0");
        }
        amounts.put(each.getKey(), amount);
      } catch (IllegalArgumentException e) {
        throw new UnknownRequestException(
            "\"%s\" of %s is no quantity".formatted(shown(text), shown(each.getKey())));
      }
    }
    return amounts;
  }

  private static String shown(String text) {
    return TextLimits.shown(text, MOST_SHOWN);
  }

  /** The amounts as a container requests them. */
  ObjectNode quantities() {
    ObjectNode quantities = JsonNodeFactory.instance.objectNode();
    amounts.forEach(
        (resource, amount) -> quantities.put(resource, Quantities.format(resource, amount)));
    return quantities;
  }
}
