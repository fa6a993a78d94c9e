package dev.sluice.api.config;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A Kubernetes label selector as an immutable value: all of its parts must match. A selector
 * without parts matches everything.
 *
 * @param matchLabels labels that must be there with just this value
 * @param matchExpressions further demands
 */
public record Selector(Map<String, String> matchLabels, List<Requirement> matchExpressions) {

  /** The selector that matches everything. */
  public static final Selector EVERYTHING = new Selector(Map.of(), List.of());

  /** Keeps copies of what was given. */
  public Selector {
    matchLabels = Map.copyOf(new TreeMap<>(matchLabels));
    matchExpressions = List.copyOf(matchExpressions);
  }

  /** What is asked of the value of one label. */
  public enum Operator {
    /** The label is there and its value is one of those listed. */
    IN("In"),
    /** The label is not there, or its value is none of those listed. */
    NOT_IN("NotIn"),
    /** The label is there. */
    EXISTS("Exists"),
    /** The label is not there. */
    DOES_NOT_EXIST("DoesNotExist");

    private final String text;

    Operator(String text) {
      this.text = text;
    }

    /** The operator as Kubernetes writes it. */
    public String text() {
      return text;
    }

    boolean takesValues() {
      return this == IN || this == NOT_IN;
    }
  }

  /**
   * One demand on one label.
   *
   * @param key the label's key
   * @param operator what is asked
   * @param values the values that {@code In} and {@code NotIn} compare with, else empty
   */
  public record Requirement(String key, Operator operator, List<String> values) {

    /** Keeps a copy of the values. */
    public Requirement {
      values = List.copyOf(values);
    }

    /** Whether an object with these labels meets the demand. */
    public boolean matches(Map<String, String> labels) {
      boolean present = labels.containsKey(key);
      boolean listed = present && values.contains(labels.get(key));
      return switch (operator) {
        case IN -> listed;
        case NOT_IN -> !listed;
        case EXISTS -> present;
        case DOES_NOT_EXIST -> !present;
      };
    }
  }

  /** Whether an object with these labels is selected. */
  public boolean matches(Map<String, String> labels) {
    return labels.entrySet().containsAll(matchLabels.entrySet())
        && matchExpressions.stream().allMatch(requirement -> requirement.matches(labels));
  }
}
