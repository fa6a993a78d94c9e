package dev.sluice.api.placement;

import dev.sluice.api.KubernetesNames;
import dev.sluice.api.TextLimits;
import dev.sluice.core.model.LabelRequirement;
import dev.sluice.core.model.LabelRequirement.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A label selector as people write it on one line: {@code tier=gpu, site in (a, b), !old}. All
 * requirements have to hold.
 *
 * @param requirements of which there is at least one
 */
public record ClusterLabelSelector(List<LabelRequirement> requirements) {

  /** What is allowed, to be said where something else is found. */
  public static final String FORM =
      "requirements separated by commas, each key=value, key!=value, key in (a, b), key notin (a,"
          + " b), key or !key";

  /** With a copy of the list. */
  public ClusterLabelSelector {
    requirements = List.copyOf(requirements);
  }

  /**
   * The selector that a text stands for; empty when it is none, or longer than {@link TextLimits}
   * allow. Each character is looked at a fixed number of times.
   */
  public static Optional<ClusterLabelSelector> parse(String text) {
    if (!TextLimits.fits(text)) {
      return Optional.empty();
    }
    List<LabelRequirement> found = new ArrayList<>();
    for (String part : parts(text)) {
      Optional<LabelRequirement> requirement = requirement(part.strip());
      if (requirement.isEmpty()) {
        return Optional.empty();
      }
      found.add(requirement.get());
    }
    return Optional.of(new ClusterLabelSelector(found));
  }

  /** What stands between the commas that are outside of parentheses. */
  private static List<String> parts(String text) {
    List<String> parts = new ArrayList<>();
    boolean inside = false;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == '(' || each == ')') {
        inside = each == '(';
      } else if (each == ',' && !inside) {
        parts.add(text.substring(start, i));
        start = i + 1;
      }
    }
    parts.add(text.substring(start));
    return parts;
  }

  private static Optional<LabelRequirement> requirement(String text) {
    if (text.startsWith("!")) {
      return requirement(text.substring(1).strip(), Operator.DOES_NOT_EXIST, List.of());
    }
    int equals = text.indexOf('=');
    if (equals > 0) {
      boolean not = text.charAt(equals - 1) == '!';
      boolean twice = !not && text.startsWith("==", equals);
      String value = text.substring(equals + (twice ? 2 : 1)).strip();
      return KubernetesNames.isLabelValue(value)
          ? requirement(
              text.substring(0, not ? equals - 1 : equals).strip(),
              not ? Operator.NOT_IN : Operator.IN,
              List.of(value))
          : Optional.empty();
    }
    return text.endsWith(")")
        ? set(text.substring(0, text.length() - 1))
        : requirement(text, Operator.EXISTS, List.of());
  }

  /** A requirement such as {@code key in (a, b)}, without the last parenthesis. */
  private static Optional<LabelRequirement> set(String text) {
    int opening = text.indexOf('(');
    String before = text.substring(0, Math.max(0, opening)).strip();
    boolean not = before.endsWith("notin");
    String key = before.substring(0, Math.max(0, before.length() - (not ? 5 : 2)));
    if (!before.endsWith("in") || key.equals(key.stripTrailing())) {
      return Optional.empty();
    }
    List<String> values = new ArrayList<>();
    for (String value : TextLimits.items(text.substring(opening + 1))) {
      if (value.isBlank() || !KubernetesNames.isLabelValue(value.strip())) {
        return Optional.empty();
      }
      values.add(value.strip());
    }
    return requirement(key.strip(), not ? Operator.NOT_IN : Operator.IN, values);
  }

  private static Optional<LabelRequirement> requirement(
      String key, Operator operator, List<String> values) {
    return KubernetesNames.isLabelKey(key)
        ? Optional.of(new LabelRequirement(key, operator, values))
        : Optional.empty();
  }

  /** Whether labels fulfil all of it. */
  public boolean selects(Map<String, String> labels) {
    return requirements.stream().allMatch(requirement -> requirement.matches(labels));
  }
}
