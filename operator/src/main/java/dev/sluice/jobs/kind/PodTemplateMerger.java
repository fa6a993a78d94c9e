package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.PodTemplateHash;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What starting and stopping do to a pod template, whatever kind it belongs to. */
public final class PodTemplateMerger {

  /** Labels that only a start gives to pods, and that therefore tell a started job. */
  public static final List<String> MARKS =
      List.of(
          KueueConstants.PODSET,
          KueueConstants.LOCAL_QUEUE_NAME,
          KueueConstants.CLUSTER_QUEUE_NAME,
          KueueConstants.MULTIKUEUE_WORKER_POD);

  /**
   * Annotations that a start may overwrite: of one that asks for no topology, "false" means none.
   */
  private static final Set<String> REPLACED =
      Set.of(
          KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY,
          KueueConstants.WORKLOAD,
          KueueConstants.WORKLOAD_SLICE_NAME,
          KueueConstants.NATIVE_POD_GROUP);

  private PodTemplateMerger() {}

  /**
   * Puts what a pod set was given into its template. Keys that are there already must have the same
   * value; tolerations and gates that are there already are not repeated.
   *
   * @param template is changed in place
   * @throws StartConflictException if a key has another value
   */
  public static void merge(ObjectNode template, PodSetInfo start) throws StartConflictException {
    mergeMap(template, start.name(), "metadata", "annotations", start.annotations());
    mergeMap(template, start.name(), "metadata", "labels", start.labels());
    mergeMap(template, start.name(), "spec", "nodeSelector", start.nodeSelector());
    if (!start.tolerations().isEmpty()) {
      addTolerations(template.withObject("/spec"), start.tolerations());
    }
    if (!start.schedulingGates().isEmpty()) {
      addGates(template.withObject("/spec"), start.schedulingGates());
    }
  }

  /** Adds tolerations to those of an object, if it doesn't have them. */
  public static void addTolerations(ObjectNode holder, List<ObjectNode> given) {
    for (ObjectNode toleration : given) {
      ArrayNode tolerations = holder.withArrayProperty("tolerations");
      if (!contains(tolerations, toleration)) {
        tolerations.add(toleration.deepCopy());
      }
    }
  }

  /** Adds scheduling gates to those of an object, if it doesn't have them. */
  public static void addGates(ObjectNode holder, List<String> given) {
    for (String gate : given) {
      ArrayNode gates = holder.withArrayProperty("schedulingGates");
      if (gates.findValuesAsText("name").stream().noneMatch(gate::equals)) {
        gates.addObject().put("name", gate);
      }
    }
  }

  private static void mergeMap(
      ObjectNode template, String podSet, String parent, String field, Map<String, String> given)
      throws StartConflictException {
    if (given.isEmpty()) {
      return;
    }
    ObjectNode map = template.withObject("/" + parent).withObjectProperty(field);
    for (Map.Entry<String, String> entry : given.entrySet()) {
      String key = entry.getKey();
      String present = map.has(key) ? map.get(key).asText() : entry.getValue();
      if (!present.equals(entry.getValue()) && !REPLACED.contains(key)) {
        throw new StartConflictException(
            "pod set %s: template.%s.%s[%s] is \"%s\", but it was admitted with \"%s\""
                .formatted(podSet, parent, field, key, present, entry.getValue()));
      }
      map.put(key, entry.getValue());
    }
  }

  /** Whether one of these tolerations says the same as {@code wanted}. */
  public static boolean contains(JsonNode tolerations, JsonNode wanted) {
    for (JsonNode toleration : tolerations) {
      if (sameToleration(toleration, wanted)) {
        return true;
      }
    }
    return false;
  }

  private static boolean sameToleration(JsonNode one, JsonNode other) {
    return List.of("key", "value", "effect", "tolerationSeconds").stream()
            .allMatch(field -> one.path(field).asText().equals(other.path(field).asText()))
        && operator(one).equals(operator(other));
  }

  private static String operator(JsonNode toleration) {
    return toleration.path("operator").asText("Equal");
  }

  /**
   * Gives a template back the labels, annotations, node selector, tolerations and scheduling gates
   * of the original, but not the name of the first slice, which templates of later slices have.
   *
   * @param template is changed in place
   */
  public static void restore(ObjectNode template, JsonNode original) {
    restoreField(template, original, "metadata", "labels");
    restoreField(template, original, "metadata", "annotations");
    if (template.path("metadata").get("annotations") instanceof ObjectNode annotations) {
      annotations.remove(KueueConstants.WORKLOAD_SLICE_NAME);
      if (annotations.isEmpty() && original.at("/metadata/annotations").size() > 0) {
        template.withObject("/metadata").remove("annotations");
      }
    }
    restoreField(template, original, "spec", "nodeSelector");
    restoreField(template, original, "spec", "tolerations");
    restoreField(template, original, "spec", "schedulingGates");
  }

  private static void restoreField(
      ObjectNode template, JsonNode original, String parent, String field) {
    JsonNode value = original.path(parent).path(field);
    if (!value.isMissingNode() && !value.isNull()) {
      template.withObject("/" + parent).set(field, value.deepCopy());
    } else if (template.get(parent) instanceof ObjectNode holder) {
      holder.remove(field);
    }
  }

  /**
   * The template as Workloads hold it: labels and annotations, and a spec whose containers name
   * each environment variable once (the last wins).
   */
  public static ObjectNode forWorkload(JsonNode template) {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    for (String field : List.of("labels", "annotations")) {
      JsonNode map = template.path("metadata").path(field);
      if (map.isObject() && !map.isEmpty()) {
        result.withObject("/metadata").set(field, map.deepCopy());
      }
    }
    result.set("spec", template.path("spec").deepCopy());
    for (String field : List.of("containers", "initContainers")) {
      for (JsonNode container : result.path("spec").path(field)) {
        if (container instanceof ObjectNode object && object.get("env") instanceof ArrayNode env) {
          object.set("env", PodTemplateHash.lastOfEachName(env));
        }
      }
    }
    return result;
  }
}
