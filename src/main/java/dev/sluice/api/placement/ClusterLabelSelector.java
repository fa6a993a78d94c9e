package dev.sluice.api.placement;

import dev.sluice.core.model.LabelRequirement;
import dev.sluice.core.model.LabelRequirement.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  private static final String KEY_FORM =
      "(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?";
  private static final String VALUE_FORM = "(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?";
  private static final Pattern EQUALITY =
      Pattern.compile("(" + KEY_FORM + ")\\s*(==|=|!=)\\s*(" + VALUE_FORM + ")");
  private static final Pattern SET =
      Pattern.compile("(" + KEY_FORM + ")\\s+(in|notin)\\s*\\(([^()]*)\\)");
  private static final Pattern PRESENCE = Pattern.compile("(!?)\\s*(" + KEY_FORM + ")");
  private static final Pattern VALUE = Pattern.compile(VALUE_FORM);
  private static final Pattern COMMA_OUTSIDE = Pattern.compile(",(?![^(]*\\))");

  /** With a copy of the list. */
  public ClusterLabelSelector {
    requirements = List.copyOf(requirements);
  }

  /** The selector that a text stands for; empty when it is none. */
  public static Optional<ClusterLabelSelector> parse(String text) {
    List<LabelRequirement> found = new ArrayList<>();
    for (String part : COMMA_OUTSIDE.split(text, -1)) {
      Optional<LabelRequirement> requirement = requirement(part.strip());
      if (requirement.isEmpty()) {
        return Optional.empty();
      }
      found.add(requirement.get());
    }
    return Optional.of(new ClusterLabelSelector(found));
  }

  private static Optional<LabelRequirement> requirement(String text) {
    Matcher equality = EQUALITY.matcher(text);
    if (equality.matches()) {
      List<String> value = List.of(equality.group(3));
      return Optional.of(
          new LabelRequirement(
              equality.group(1),
              equality.group(2).equals("!=") ? Operator.NOT_IN : Operator.IN,
              value));
    }
    Matcher set = SET.matcher(text);
    if (set.matches()) {
      return values(set.group(3))
          .map(
              values ->
                  new LabelRequirement(
                      set.group(1),
                      set.group(2).equals("in") ? Operator.IN : Operator.NOT_IN,
                      values));
    }
    Matcher presence = PRESENCE.matcher(text);
    if (presence.matches()) {
      return Optional.of(
          new LabelRequirement(
              presence.group(2),
              presence.group(1).isEmpty() ? Operator.EXISTS : Operator.DOES_NOT_EXIST,
              List.of()));
    }
    return Optional.empty();
  }

  private static Optional<List<String>> values(String text) {
    List<String> values = List.of(text.split(",", -1)).stream().map(String::strip).toList();
    return values.stream().allMatch(value -> !value.isEmpty() && VALUE.matcher(value).matches())
        ? Optional.of(values)
        : Optional.empty();
  }

  /** Whether labels fulfil all of it. */
  public boolean selects(Map<String, String> labels) {
    return requirements.stream().allMatch(requirement -> requirement.matches(labels));
  }
}
