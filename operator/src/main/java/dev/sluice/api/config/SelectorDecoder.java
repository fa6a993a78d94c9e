package dev.sluice.api.config;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Selector.Operator;
import dev.sluice.api.config.Selector.Requirement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads label selectors. */
final class SelectorDecoder {

  private static final String NAMESPACE_NAME = "kubernetes.io/metadata.name";
  private static final String KUBE_SYSTEM = "kube-system";
  private static final Map<String, Operator> OPERATORS = operators();

  private final ValidationErrors errors;

  SelectorDecoder(ValidationErrors errors) {
    this.errors = errors;
  }

  /** The namespaces whose jobs are managed: never the system's own, nor the operator's. */
  Selector managedNamespaces(ObjectFieldReader file, String operatorNamespace) {
    String name = "managedJobsNamespaceSelector";
    ObjectNode others = JsonNodeFactory.instance.objectNode();
    others
        .withArray("/matchExpressions")
        .addObject()
        .put("key", NAMESPACE_NAME)
        .put("operator", Operator.NOT_IN.text())
        .putArray("values")
        .add(KUBE_SYSTEM)
        .add(operatorNamespace);
    file.defaultTo(name, others);
    Selector selector = decode(file.object(name));
    for (String own : List.of(KUBE_SYSTEM, operatorNamespace)) {
      if (selector.matches(Map.of(NAMESPACE_NAME, own))) {
        errors.add(
            file.path(name),
            "must not match the namespace \""
                + own
                + "\"; add a matchExpression with key "
                + NAMESPACE_NAME
                + ", operator NotIn and values ["
                + KUBE_SYSTEM
                + ", "
                + operatorNamespace
                + "]");
      }
    }
    return selector;
  }

  /** A selector, all of whose parts are checked. */
  Selector decode(ObjectFieldReader fields) {
    Map<String, String> labels = fields.map("matchLabels", fields::textAt);
    labels.forEach((key, value) -> checkLabel(fields.path("matchLabels"), key, List.of(value)));
    List<Requirement> requirements = new ArrayList<>();
    for (ObjectFieldReader expression : fields.objects("matchExpressions")) {
      requirement(expression).ifPresent(requirements::add);
    }
    return fields.done(new Selector(labels, requirements));
  }

  private Optional<Requirement> requirement(ObjectFieldReader fields) {
    String key = fields.required("key", "a label key");
    Optional<Operator> operator = fields.word("operator", OPERATORS);
    if (!fields.has("operator")) {
      fields.refuse("operator", "is missing; needed: " + String.join(", ", OPERATORS.keySet()));
    }
    List<String> values = fields.texts("values");
    if (!key.isEmpty()) {
      checkLabel(fields.path("key"), key, values);
    }
    operator.ifPresent(
        known ->
            fields.check(
                "values",
                known.takesValues() != values.isEmpty(),
                values,
                known.takesValues()
                    ? "at least one value for " + known.text()
                    : "no values for " + known.text()));
    return fields.done(operator.map(known -> new Requirement(key, known, values)));
  }

  private void checkLabel(String path, String key, List<String> values) {
    errors.check(KubernetesNames.isLabelKey(key), path, key, KubernetesNames.LABEL_KEY_RULE);
    values.stream()
        .filter(value -> !KubernetesNames.isLabelValue(value))
        .forEach(value -> errors.value(path, value, KubernetesNames.LABEL_VALUE_RULE));
  }

  private static Map<String, Operator> operators() {
    Map<String, Operator> result = new LinkedHashMap<>();
    for (Operator operator : Operator.values()) {
      result.put(operator.text(), operator);
    }
    return result;
  }
}
