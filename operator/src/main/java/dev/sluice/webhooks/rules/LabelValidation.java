package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Validates labels, annotations, selectors and tolerations. */
public final class LabelValidation {

  private static final int MAX_ANNOTATIONS_BYTES = 256 * 1024;
  private static final Set<String> WITH_VALUES = Set.of("In", "NotIn");
  private static final Set<String> WITHOUT_VALUES = Set.of("Exists", "DoesNotExist");

  private LabelValidation() {}

  /** Validates keys and values of labels. */
  public static void labels(FieldPath path, Map<String, String> labels, FieldErrors errors) {
    labels.forEach(
        (key, value) -> {
          errors.invalid(path, key, NameValidation.qualified(key));
          errors.invalid(path.key(key), value, NameValidation.labelValue(value));
        });
  }

  /** Validates keys of annotations, and the size of all together. */
  public static void annotations(
      FieldPath path, Map<String, String> annotations, FieldErrors errors) {
    long size = 0;
    for (Map.Entry<String, String> entry : annotations.entrySet()) {
      String key = entry.getKey();
      errors.invalid(path, key, NameValidation.qualified(key.toLowerCase(Locale.ROOT)));
      size += key.length() + (long) entry.getValue().getBytes(StandardCharsets.UTF_8).length;
    }
    if (size > MAX_ANNOTATIONS_BYTES) {
      errors.invalid(
          path, size + " bytes", "may not be more than " + MAX_ANNOTATIONS_BYTES + " bytes");
    }
  }

  /** Validates the labels and expressions of a label selector. */
  public static void selector(FieldPath path, JsonNode selector, FieldErrors errors) {
    labels(path.child("matchLabels"), JsonFields.map(selector, "matchLabels"), errors);
    List<JsonNode> expressions = JsonFields.list(selector, "matchExpressions");
    for (int i = 0; i < expressions.size(); i++) {
      expression(path.child("matchExpressions").index(i), expressions.get(i), errors);
    }
  }

  private static void expression(FieldPath path, JsonNode expression, FieldErrors errors) {
    String key = JsonFields.text(expression, "key");
    errors.invalid(path.child("key"), key, NameValidation.qualified(key));
    String operator = JsonFields.text(expression, "operator");
    List<String> values = JsonFields.texts(expression, "values");
    if (WITH_VALUES.contains(operator) && values.isEmpty()) {
      errors.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (WITHOUT_VALUES.contains(operator) && !values.isEmpty()) {
      errors.forbidden(
          path.child("values"),
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (!WITH_VALUES.contains(operator) && !WITHOUT_VALUES.contains(operator)) {
      errors.invalid(
          path.child("operator"),
          operator,
          "not a valid selector operator, must be In, NotIn, Exists or DoesNotExist");
    }
    for (int i = 0; i < values.size(); i++) {
      errors.invalid(
          path.child("values").index(i), values.get(i), NameValidation.labelValue(values.get(i)));
    }
  }

  /** Validates the keys of tolerations; the schema of the API covers the other fields. */
  public static void tolerationKeys(
      FieldPath path, List<JsonNode> tolerations, FieldErrors errors) {
    for (int i = 0; i < tolerations.size(); i++) {
      String key = JsonFields.text(tolerations.get(i), "key");
      if (!key.isEmpty()) {
        errors.invalid(path.index(i).child("key"), key, NameValidation.qualified(key));
      }
    }
  }
}
