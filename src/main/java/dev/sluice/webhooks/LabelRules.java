package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Labels, annotations, selectors and tolerations. */
final class LabelRules {

  private static final int MAX_ANNOTATIONS_BYTES = 256 * 1024;
  private static final Set<String> WITH_VALUES = Set.of("In", "NotIn");
  private static final Set<String> WITHOUT_VALUES = Set.of("Exists", "DoesNotExist");

  private LabelRules() {}

  static void labels(FieldPath path, Map<String, String> labels, Complaints bad) {
    labels.forEach(
        (key, value) -> {
          bad.invalid(path, key, Names.qualified(key));
          bad.invalid(path.key(key), value, Names.labelValue(value));
        });
  }

  static void annotations(FieldPath path, Map<String, String> annotations, Complaints bad) {
    long size = 0;
    for (Map.Entry<String, String> entry : annotations.entrySet()) {
      String key = entry.getKey();
      bad.invalid(path, key, Names.qualified(key.toLowerCase(Locale.ROOT)));
      size += key.length() + (long) entry.getValue().getBytes(StandardCharsets.UTF_8).length;
    }
    if (size > MAX_ANNOTATIONS_BYTES) {
      bad.invalid(
          path, size + " bytes", "may not be more than " + MAX_ANNOTATIONS_BYTES + " bytes");
    }
  }

  static void selector(FieldPath path, JsonNode selector, Complaints bad) {
    labels(path.child("matchLabels"), Json.map(selector, "matchLabels"), bad);
    List<JsonNode> expressions = Json.list(selector, "matchExpressions");
    for (int i = 0; i < expressions.size(); i++) {
      expression(path.child("matchExpressions").index(i), expressions.get(i), bad);
    }
  }

  private static void expression(FieldPath path, JsonNode expression, Complaints bad) {
    String key = Json.text(expression, "key");
    bad.invalid(path.child("key"), key, Names.qualified(key));
    String operator = Json.text(expression, "operator");
    List<String> values = Json.texts(expression, "values");
    if (WITH_VALUES.contains(operator) && values.isEmpty()) {
      bad.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (WITHOUT_VALUES.contains(operator) && !values.isEmpty()) {
      bad.forbidden(
          path.child("values"),
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (!WITH_VALUES.contains(operator) && !WITHOUT_VALUES.contains(operator)) {
      bad.invalid(
          path.child("operator"),
          operator,
          "not a valid selector operator, must be In, NotIn, Exists or DoesNotExist");
    }
    for (int i = 0; i < values.size(); i++) {
      bad.invalid(path.child("values").index(i), values.get(i), Names.labelValue(values.get(i)));
    }
  }

  /** Keys of tolerations; what else they must hold to is in the schema. */
  static void tolerationKeys(FieldPath path, List<JsonNode> tolerations, Complaints bad) {
    for (int i = 0; i < tolerations.size(); i++) {
      String key = Json.text(tolerations.get(i), "key");
      if (!key.isEmpty()) {
        bad.invalid(path.index(i).child("key"), key, Names.qualified(key));
      }
    }
  }
}
