package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodTemplateMerger;
import dev.sluice.jobs.kind.StartConflictException;
import java.util.List;

/**
 * The fields of a Workflow's spec that are for all its pods, as a pod template. A start writes into
 * them and keeps what they were in an annotation: the Workload has no copy of them, since the
 * Workflow holds no template.
 */
final class WorkflowPodFields {

  /** The annotation of a started Workflow that holds what its fields for pods were before. */
  private static final String BEFORE = "sluice.dev/pods-before-start";

  private static final String METADATA = "podMetadata";
  private static final String NODE_SELECTOR = "nodeSelector";
  private static final String TOLERATIONS = "tolerations";

  /** What a placeholder begins with. */
  private static final String PLACEHOLDER = "{{";

  /** Fields of the spec that a start writes. */
  private static final List<String> GIVEN = List.of(METADATA, NODE_SELECTOR, TOLERATIONS);

  /** Fields of the spec that pods have under the same name. */
  private static final List<String> PLACING = List.of(NODE_SELECTOR, TOLERATIONS, "affinity");

  private WorkflowPodFields() {}

  /** Whether a Workflow has what a start gave it. */
  static boolean areGiven(JsonNode workflow) {
    return !before(workflow).isEmpty();
  }

  private static String before(JsonNode workflow) {
    return JsonFields.text(workflow, "metadata", "annotations", BEFORE);
  }

  /**
   * The template of the Workflow's pods, as it was before a start. Labels and annotations that Argo
   * fills in when it makes pods are left out: no Workload may have their placeholders.
   */
  static ObjectNode original(JsonNode workflow) {
    ObjectNode spec = JsonFields.object(workflow.path("spec")).deepCopy();
    if (areGiven(workflow)) {
      restore(spec, before(workflow));
    }
    ObjectNode template = template(spec);
    for (String field : List.of("labels", "annotations")) {
      if (template.path("metadata").path(field) instanceof ObjectNode entries) {
        entries.properties().removeIf(it -> isFilledIn(it.getKey(), it.getValue().asText()));
      }
    }
    return template;
  }

  private static boolean isFilledIn(String key, String value) {
    return key.contains(PLACEHOLDER) || value.contains(PLACEHOLDER);
  }

  private static ObjectNode template(ObjectNode spec) {
    ObjectNode template = JsonNodeFactory.instance.objectNode();
    if (spec.get(METADATA) instanceof ObjectNode metadata) {
      template.set("metadata", metadata.deepCopy());
    }
    ObjectNode pod = template.putObject("spec");
    for (String field : PLACING) {
      if (spec.hasNonNull(field)) {
        pod.set(field, spec.get(field).deepCopy());
      }
    }
    String priorityClass = JsonFields.text(spec, "podPriorityClassName");
    if (!priorityClass.isEmpty()) {
      pod.put("priorityClassName", priorityClass);
    }
    return template;
  }

  /**
   * Gives the pods what a start says.
   *
   * @param workflow is changed in place
   * @throws StartConflictException if the Workflow says something else for its pods
   */
  static void give(ObjectNode workflow, PodSetInfo start) throws StartConflictException {
    if (!start.schedulingGates().isEmpty()) {
      throw new StartConflictException("pods of a Workflow can't have scheduling gates");
    }
    takeBack(workflow);
    ObjectNode spec = JsonFields.child(workflow, "spec");
    ObjectNode kept = spec.deepCopy().retain(GIVEN);
    ObjectNode template = template(spec);
    PodTemplateMerger.merge(template, start);
    spec.setAll(JsonFields.child(template, "spec").deepCopy().retain(NODE_SELECTOR, TOLERATIONS));
    if (template.has("metadata")) {
      spec.set(METADATA, template.get("metadata"));
    }
    annotations(workflow).put(BEFORE, kept.toString());
  }

  /**
   * Removes what a start gave.
   *
   * @param workflow is changed in place
   */
  static void takeBack(ObjectNode workflow) {
    if (areGiven(workflow)) {
      restore(JsonFields.child(workflow, "spec"), before(workflow));
      annotations(workflow).remove(BEFORE);
    }
  }

  /** Text that nobody but people can have written leaves the fields as they are. */
  private static void restore(ObjectNode spec, String before) {
    try {
      if (JsonMappers.JSON.readTree(before) instanceof ObjectNode kept) {
        spec.remove(GIVEN);
        spec.setAll(kept.retain(GIVEN));
      }
    } catch (JsonProcessingException edited) {
      return;
    }
  }

  private static ObjectNode annotations(ObjectNode workflow) {
    return JsonFields.child(JsonFields.child(workflow, "metadata"), "annotations");
  }
}
