package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/**
 * Where pods run: a list of domains in v1beta1, runs of domains in compact form in the stored
 * version. The order of domains is the order of pod ranks and stays.
 */
final class TopologyAssignmentConversion {

  private static final String FIELD = "topologyAssignment";

  /** As many slices as an assignment may have. */
  private static final int MOST_SLICES = 1000;

  /** As many levels as a Topology may have. */
  private static final int MOST_LEVELS = 16;

  /**
   * Domains of an assignment, beyond those that its runs list one by one. Two domains differ in a
   * value that is listed, so runs that a scheduler writes have no such domains but the first of
   * each.
   */
  private static final int MOST_UNLISTED = 1000;

  private TopologyAssignmentConversion() {}

  /**
   * Writes the domains as runs.
   *
   * @param written runs that the domains were once written as; used if they are still the same
   *     domains
   */
  static void up(JsonNode podSetAssignment, ArrayNode written) {
    if (podSetAssignment.get(FIELD) instanceof ObjectNode assignment
        && assignment.remove("domains") instanceof ArrayNode domains) {
      int levels = levels(assignment);
      boolean same = !written.isEmpty() && expanded(written, levels).equals(domains);
      assignment.set("slices", same ? written : compact(domains, levels));
    }
  }

  /**
   * Writes runs as domains; returns the runs if they are not what the domains would be written as.
   */
  static ArrayNode down(JsonNode podSetAssignment) {
    if (podSetAssignment.get(FIELD) instanceof ObjectNode assignment
        && assignment.remove("slices") instanceof ArrayNode slices) {
      int levels = levels(assignment);
      ArrayNode domains = expanded(slices, levels);
      assignment.set("domains", domains);
      return compact(domains, levels).equals(slices) ? slices.arrayNode() : slices;
    }
    return JsonNodeFactory.instance.arrayNode();
  }

  /** The domains of an assignment that is written as runs. */
  static ArrayNode domains(JsonNode assignment) {
    return assignment.path("slices") instanceof ArrayNode slices
        ? expanded(slices, levels(assignment))
        : JsonNodeFactory.instance.arrayNode();
  }

  private static int levels(JsonNode assignment) {
    return Math.min(MOST_LEVELS, assignment.path("levels").size());
  }

  /**
   * The domains of runs. A run may claim billions of domains in a few bytes; then only the first
   * ones are written, so that the size of the result is bounded by the size of the runs.
   */
  private static ArrayNode expanded(ArrayNode slices, int levels) {
    ArrayNode domains = slices.arrayNode();
    int unlisted = MOST_UNLISTED;
    for (JsonNode slice : slices) {
      int claimed = slice.path("domainCount").asInt();
      int listed = Math.min(claimed, listed(slice, levels));
      int further = Math.min(claimed - listed, unlisted);
      unlisted -= further;
      for (int index = 0; index < listed + further; index++) {
        ObjectNode domain = domains.addObject();
        ArrayNode values = domain.putArray("values");
        for (int level = 0; level < levels; level++) {
          values.add(value(slice.path("valuesPerLevel").path(level), index));
        }
        domain.set("count", count(slice.path("podCounts"), index));
      }
    }
    return domains;
  }

  /** How many domains a run lists one by one; at least one. */
  private static int listed(JsonNode slice, int levels) {
    int most = Math.max(1, slice.path("podCounts").path("individual").size());
    for (int level = 0; level < levels; level++) {
      JsonNode values = slice.path("valuesPerLevel").path(level);
      most = Math.max(most, values.path("individual").path("roots").size());
    }
    return most;
  }

  private static String value(JsonNode level, int index) {
    JsonNode individual = level.path("individual");
    return level.has("universal")
        ? level.path("universal").asText()
        : individual.path("prefix").asText()
            + individual.path("roots").path(index).asText()
            + individual.path("suffix").asText();
  }

  private static JsonNode count(JsonNode counts, int index) {
    return counts.has("universal")
        ? counts.path("universal")
        : counts.path("individual").path(index);
  }

  /** The runs of domains: one, or none without domains. */
  static ArrayNode compact(ArrayNode domains, int levels) {
    ArrayNode slices = domains.arrayNode();
    if (!domains.isEmpty()) {
      ObjectNode slice = slices.addObject();
      slice.put("domainCount", domains.size());
      ObjectNode counts = slice.putObject("podCounts");
      List<JsonNode> pods = domains.valueStream().map(domain -> domain.path("count")).toList();
      if (new HashSet<>(pods).size() == 1) {
        counts.set("universal", pods.getFirst());
      } else {
        counts.putArray("individual").addAll(pods);
      }
      ArrayNode values = slice.putArray("valuesPerLevel");
      for (int level = 0; level < levels; level++) {
        values.add(level(domains, level));
      }
    }
    return slices;
  }

  /**
   * The runs of domains whose last values have the same text before the last hyphen, each as one
   * slice; a single run for all of them where there would be more slices than the API allows.
   */
  static ArrayNode compactByPrefix(ArrayNode domains, int levels) {
    ArrayNode slices = domains.arrayNode();
    ArrayNode run = domains.arrayNode();
    String before = "";
    for (JsonNode domain : domains) {
      String value = domain.path("values").path(levels - 1).asText();
      String prefix = value.substring(0, value.lastIndexOf('-') + 1);
      if (!run.isEmpty() && !prefix.equals(before)) {
        slices.addAll(compact(run, levels));
        run = domains.arrayNode();
      }
      run.add(domain);
      before = prefix;
    }
    slices.addAll(compact(run, levels));
    return slices.size() > MOST_SLICES ? compact(domains, levels) : slices;
  }

  private static ObjectNode level(ArrayNode domains, int level) {
    List<String> values = new ArrayList<>();
    domains.forEach(domain -> values.add(domain.path("values").path(level).asText()));
    ObjectNode result = domains.objectNode();
    if (new HashSet<>(values).size() == 1) {
      return result.put("universal", values.getFirst());
    }
    ObjectNode individual = result.putObject("individual");
    String prefix = values.getFirst().substring(0, commonPrefix(values));
    List<String> rests = values.stream().map(value -> value.substring(prefix.length())).toList();
    String suffix = rests.getFirst().substring(rests.getFirst().length() - commonSuffix(rests));
    if (!prefix.isEmpty()) {
      individual.put("prefix", prefix);
    }
    if (!suffix.isEmpty()) {
      individual.put("suffix", suffix);
    }
    ArrayNode roots = individual.putArray("roots");
    rests.forEach(rest -> roots.add(rest.substring(0, rest.length() - suffix.length())));
    return result;
  }

  /** The length of the longest common prefix; looks at each character once at most. */
  static int commonPrefix(List<? extends CharSequence> values) {
    CharSequence first = values.getFirst();
    int length = first.length();
    for (CharSequence value : values) {
      int same = 0;
      while (same < length && same < value.length() && value.charAt(same) == first.charAt(same)) {
        same++;
      }
      length = same;
    }
    return length;
  }

  /** The length of the longest common suffix; looks at each character once at most. */
  static int commonSuffix(List<? extends CharSequence> values) {
    CharSequence first = values.getFirst();
    int length = first.length();
    for (CharSequence value : values) {
      int same = 0;
      while (same < length
          && same < value.length()
          && value.charAt(value.length() - 1 - same) == first.charAt(first.length() - 1 - same)) {
        same++;
      }
      length = same;
    }
    return length;
  }
}
