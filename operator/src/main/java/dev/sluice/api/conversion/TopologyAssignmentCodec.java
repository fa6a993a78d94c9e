package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.TopologyAssignment;
import java.util.ArrayList;
import java.util.List;

/** Reads and writes the topology assignment of a pod set. */
public final class TopologyAssignmentCodec {

  private TopologyAssignmentCodec() {}

  /**
   * The domains of an assignment, written as slices or as a list of domains. Any JSON can be read:
   * a domain without pods, or without a value for each level, is left out.
   */
  public static TopologyAssignment decode(JsonNode assignment) {
    List<String> levels = texts(assignment.path("levels"));
    JsonNode written = assignment.path("domains");
    ArrayNode domains =
        written instanceof ArrayNode list ? list : TopologyAssignmentConversion.domains(assignment);
    List<TopologyAssignment.Domain> result = new ArrayList<>(domains.size());
    for (JsonNode domain : domains) {
      List<String> values = texts(domain.path("values"));
      int count = domain.path("count").asInt();
      if (count > 0 && !values.isEmpty() && values.size() == levels.size()) {
        result.add(new TopologyAssignment.Domain(values, count));
      }
    }
    return new TopologyAssignment(levels, result);
  }

  private static List<String> texts(JsonNode list) {
    List<String> result = new ArrayList<>(list.size());
    list.forEach(text -> result.add(text.asText()));
    return result;
  }

  /**
   * The assignment as it is stored: one slice, or one for each run of hostnames with the same text
   * before the last hyphen, whichever is shorter.
   */
  public static ObjectNode encode(TopologyAssignment assignment) {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    ArrayNode levels = result.putArray("levels");
    assignment.levels().forEach(levels::add);
    ArrayNode domains = JsonNodeFactory.instance.arrayNode();
    for (TopologyAssignment.Domain domain : assignment.domains()) {
      ArrayNode values = domains.addObject().put("count", domain.count()).putArray("values");
      domain.values().forEach(values::add);
    }
    int size = assignment.levels().size();
    ArrayNode one = TopologyAssignmentConversion.compact(domains, size);
    result.set("slices", one);
    if (assignment.isOfNodes()) {
      ArrayNode several = TopologyAssignmentConversion.compactByPrefix(domains, size);
      if (several.toString().length() < one.toString().length()) {
        result.set("slices", several);
      }
    }
    return result;
  }
}
