package dev.sluice.jobs.kinds.appwrapper;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Finds components of an AppWrapper whose pods can't be counted by the pod sets. */
final class ComponentValidation {

  private static final String POD_SETS = "podSets";

  private ComponentValidation() {}

  /**
   * Adds what can't be counted of a component.
   *
   * @param path the path of the component
   */
  static void add(JsonNode component, String path, List<InvalidField> errors) {
    for (InvalidField field : KnownComponents.uncounted(component)) {
      errors.add(new InvalidField(path + ".template." + field.path(), field.value(), field.rule()));
    }
    List<JsonNode> declared = JsonFields.list(component, POD_SETS);
    if (declared.isEmpty()) {
      if (KnownComponents.makesPods(component)) {
        errors.add(
            new InvalidField(
                path + "." + POD_SETS,
                MissingNode.getInstance(),
                "must be declared for a component of kind "
                    + component.path("template").path("kind").asText()));
      }
      return;
    }
    List<ComponentPodSet> podSets = ComponentPodSet.of(component);
    for (int i = 0; i < podSets.size(); i++) {
      if (!podSets.get(i).template().path("spec").isObject()) {
        errors.add(
            new InvalidField(
                path + "." + POD_SETS + "[" + i + "].path",
                declared.get(i).path("path"),
                "must lead to a pod template in the component"));
      }
    }
    Map<String, Long> expected = counts(KnownComponents.expected(component));
    if (!expected.isEmpty() && !counts(podSets).equals(expected)) {
      errors.add(
          new InvalidField(
              path + "." + POD_SETS,
              component.path(POD_SETS),
              "must be the pod sets of the component's kind, by path and replicas: " + expected));
    }
  }

  private static Map<String, Long> counts(List<ComponentPodSet> podSets) {
    Map<String, Long> counts = new TreeMap<>();
    podSets.forEach(it -> counts.merge(it.path(), (long) it.replicas(), Long::sum));
    return counts;
  }
}
