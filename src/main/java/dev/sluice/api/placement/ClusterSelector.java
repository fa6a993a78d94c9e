package dev.sluice.api.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A label selector as people write it on one line: {@code tier=gpu, site in (a, b), !old}. All
 * requirements have to hold.
 *
 * @param requirements of which there is at least one
 */
public record ClusterSelector(List<Requirement> requirements) {

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
  public ClusterSelector {
    requirements = List.copyOf(requirements);
  }

  /** One of them. */
  public sealed interface Requirement {

    /** Whether labels fulfil it. */
    boolean holds(Map<String, String> labels);

    /** The label is there and has one of the values. */
    record In(String key, Set<String> values) implements Requirement {
      @Override
      public boolean holds(Map<String, String> labels) {
        return labels.containsKey(key) && values.contains(labels.get(key));
      }
    }

    /** The label isn't there, or has none of the values. */
    record NotIn(String key, Set<String> values) implements Requirement {
      @Override
      public boolean holds(Map<String, String> labels) {
        return !labels.containsKey(key) || !values.contains(labels.get(key));
      }
    }

    /** The label is there. */
    record Exists(String key) implements Requirement {
      @Override
      public boolean holds(Map<String, String> labels) {
        return labels.containsKey(key);
      }
    }

    /** The label isn't there. */
    record Missing(String key) implements Requirement {
      @Override
      public boolean holds(Map<String, String> labels) {
        return !labels.containsKey(key);
      }
    }
  }

  /** The selector that a text stands for; empty when it is none. */
  public static Optional<ClusterSelector> parse(String text) {
    List<Requirement> found = new ArrayList<>();
    for (String part : COMMA_OUTSIDE.split(text, -1)) {
      Optional<Requirement> requirement = requirement(part.strip());
      if (requirement.isEmpty()) {
        return Optional.empty();
      }
      found.add(requirement.get());
    }
    return Optional.of(new ClusterSelector(found));
  }

  private static Optional<Requirement> requirement(String text) {
    Matcher equality = EQUALITY.matcher(text);
    if (equality.matches()) {
      Set<String> value = Set.of(equality.group(3));
      return Optional.of(
          equality.group(2).equals("!=")
              ? new Requirement.NotIn(equality.group(1), value)
              : new Requirement.In(equality.group(1), value));
    }
    Matcher set = SET.matcher(text);
    if (set.matches()) {
      return values(set.group(3))
          .map(
              values ->
                  set.group(2).equals("in")
                      ? new Requirement.In(set.group(1), values)
                      : new Requirement.NotIn(set.group(1), values));
    }
    Matcher presence = PRESENCE.matcher(text);
    if (presence.matches()) {
      return Optional.of(
          presence.group(1).isEmpty()
              ? new Requirement.Exists(presence.group(2))
              : new Requirement.Missing(presence.group(2)));
    }
    return Optional.empty();
  }

  private static Optional<Set<String>> values(String text) {
    List<String> values = List.of(text.split(",", -1)).stream().map(String::strip).toList();
    return values.stream().allMatch(value -> !value.isEmpty() && VALUE.matcher(value).matches())
        ? Optional.of(Set.copyOf(values))
        : Optional.empty();
  }

  /** Whether labels fulfil all of it. */
  public boolean selects(Map<String, String> labels) {
    return requirements.stream().allMatch(requirement -> requirement.holds(labels));
  }
}
