package dev.sluice.api.sluice;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import java.util.List;
import java.util.Map;

/** What label selectors consist of, wherever a spec has one. */
final class SelectorFields {

  /** The operators of expressions, by the words for them. */
  static final Map<String, LabelRequirement.Operator> OPERATORS =
      Map.of(
          "In", LabelRequirement.Operator.IN,
          "NotIn", LabelRequirement.Operator.NOT_IN,
          "Exists", LabelRequirement.Operator.EXISTS,
          "DoesNotExist", LabelRequirement.Operator.DOES_NOT_EXIST);

  private SelectorFields() {}

  /** What {@code matchLabels} of a selector requires. */
  static List<LabelRequirement> matchLabels(JsonNode selector) {
    return JsonFields.map(selector, "matchLabels").entrySet().stream()
        .map(
            label ->
                new LabelRequirement(
                    label.getKey(), LabelRequirement.Operator.IN, List.of(label.getValue())))
        .toList();
  }
}
