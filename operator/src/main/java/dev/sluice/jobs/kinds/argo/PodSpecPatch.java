package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kinds.argo.WorkflowRequests.UnknownRequestException;
import java.util.List;
import java.util.Map;

/**
 * Patches of pod specs in a Workflow: those that could change what its pods request are refused.
 */
final class PodSpecPatch {

  private static final String FIELD = "podSpecPatch";

  /** A longer patch isn't read. */
  private static final int LONGEST = 64 * 1024;

  /** Fields, at any depth of a pod spec, that change what the pod requests. */
  private static final List<String> AMOUNTS =
      List.of("resources", "overhead", "runtimeClassName", "resourceClaims");

  /** A parameter, and what YAML calls anchors, aliases and tags: the text isn't what Argo reads. */
  private static final List<String> INDIRECT = List.of("{{", "&", "*", "!");

  private PodSpecPatch() {}

  /**
   * Reads the patch of a Workflow's spec or of a template, if it has one.
   *
   * @throws UnknownRequestException if the patch changes what pods request, or could
   */
  static void check(JsonNode holder) throws UnknownRequestException {
    String patch = JsonFields.text(holder, FIELD);
    if (patch.isEmpty()) {
      return;
    }
    if (patch.length() > LONGEST || INDIRECT.stream().anyMatch(patch::contains)) {
      throw new UnknownRequestException(FIELD + " can't be read before the pods are made");
    }
    try {
      check(JsonMappers.STRICT_YAML.readTree(patch), 0);
    } catch (JsonProcessingException e) {
      throw new UnknownRequestException(FIELD + " can't be read");
    }
  }

  /** Argo takes the names of fields in any case. */
  private static void check(JsonNode node, int depth) throws UnknownRequestException {
    for (Map.Entry<String, JsonNode> field : node.properties()) {
      if (AMOUNTS.stream().anyMatch(field.getKey()::equalsIgnoreCase)) {
        throw new UnknownRequestException(FIELD + " changes " + field.getKey());
      }
    }
    if (depth > 50) {
      throw new UnknownRequestException(FIELD + " is nested too deeply");
    }
    for (JsonNode child : node) {
      check(child, depth + 1);
    }
  }
}
