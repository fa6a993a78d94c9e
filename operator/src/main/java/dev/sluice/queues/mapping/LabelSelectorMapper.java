package dev.sluice.queues.mapping;

import dev.sluice.api.KubernetesNames;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Maps label selectors of the API to the requirements of the scheduler's model. */
public final class LabelSelectorMapper {

  private LabelSelectorMapper() {}

  /**
   * Maps the selector at {@code field}: an absent or invalid selector matches nothing, an empty one
   * everything.
   */
  public static MappingResult<LabelSelector> translate(
      io.fabric8.kubernetes.api.model.@Nullable LabelSelector selector, String field) {
    if (selector == null) {
      return new MappingResult<>(new LabelSelector.Nothing(), List.of());
    }
    List<LabelRequirement> requirements = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    Map<String, String> labels = selector.getMatchLabels();
    new TreeMap<>(labels == null ? Map.of() : labels)
        .forEach(
            (key, value) -> {
              String place = "%s.matchLabels[%s]".formatted(field, key);
              checkKey(key, place, faults);
              checkValue(value, place, faults);
              requirements.add(new LabelRequirement(key, Operator.IN, List.of(orEmpty(value))));
            });
    List<LabelSelectorRequirement> expressions = selector.getMatchExpressions();
    int index = 0;
    for (LabelSelectorRequirement expression :
        expressions == null ? List.<LabelSelectorRequirement>of() : expressions) {
      translate(
          expression, "%s.matchExpressions[%d]".formatted(field, index), requirements, faults);
      index++;
    }
    return faults.isEmpty()
        ? new MappingResult<>(new LabelSelector.Requirements(requirements), faults)
        : new MappingResult<>(new LabelSelector.Nothing(), faults);
  }

  private static void translate(
      LabelSelectorRequirement expression,
      String field,
      List<LabelRequirement> requirements,
      List<String> faults) {
    String key = orEmpty(expression.getKey());
    List<String> values = expression.getValues() == null ? List.of() : expression.getValues();
    checkKey(key, field + ".key", faults);
    values.forEach(value -> checkValue(value, field + ".values", faults));
    String operator = orEmpty(expression.getOperator());
    switch (operator) {
      case "In" -> requireValues(values, operator, field, faults);
      case "NotIn" -> requireValues(values, operator, field, faults);
      case "Exists" -> requireNoValues(values, operator, field, faults);
      case "DoesNotExist" -> requireNoValues(values, operator, field, faults);
      default ->
          faults.add(
              "%s.operator: \"%s\" is not one of In, NotIn, Exists, DoesNotExist"
                  .formatted(field, operator));
    }
    if (faults.isEmpty()) {
      requirements.add(new LabelRequirement(key, operator(operator), values));
    }
  }

  private static Operator operator(String operator) {
    return switch (operator) {
      case "In" -> Operator.IN;
      case "NotIn" -> Operator.NOT_IN;
      case "Exists" -> Operator.EXISTS;
      default -> Operator.DOES_NOT_EXIST;
    };
  }

  private static void requireValues(
      List<String> values, String operator, String field, List<String> faults) {
    if (values.isEmpty()) {
      faults.add("%s.values: operator %s needs at least one value".formatted(field, operator));
    }
  }

  private static void requireNoValues(
      List<String> values, String operator, String field, List<String> faults) {
    if (!values.isEmpty()) {
      faults.add("%s.values: %s must be empty with operator %s".formatted(field, values, operator));
    }
  }

  private static void checkKey(String key, String field, List<String> faults) {
    if (!KubernetesNames.isLabelKey(key)) {
      faults.add(
          "%s: \"%s\" is not a label key (up to 63 letters, digits, '-', '_' and '.', with an optional DNS prefix and '/')"
              .formatted(field, key));
    }
  }

  private static void checkValue(@Nullable String value, String field, List<String> faults) {
    if (value != null && !KubernetesNames.isLabelValue(value)) {
      faults.add(
          "%s: \"%s\" is not a label value (up to 63 letters, digits, '-', '_' and '.')"
              .formatted(field, value));
    }
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }
}
