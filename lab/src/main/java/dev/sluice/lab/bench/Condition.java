package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Reads and sets conditions of JSON objects. */
final class Condition {

  private Condition() {}

  /** Whether the condition is True. */
  static boolean holds(JsonNode object, String type) {
    for (JsonNode condition : object.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  /** A copy of the list with a condition set. */
  static ArrayNode with(
      JsonNode conditions, String type, boolean value, String reason, String message, Instant now) {
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    for (JsonNode condition : conditions) {
      if (!condition.path("type").asText().equals(type)) {
        list.add(condition);
      }
    }
    ObjectNode added = list.addObject();
    added.put("type", type).put("status", value ? "True" : "False");
    added.put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
    added.put("reason", reason).put("message", message);
    return list;
  }
}
