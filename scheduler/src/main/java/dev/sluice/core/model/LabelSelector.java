package dev.sluice.core.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A selector of objects by their labels: every requirement must be met. */
public sealed interface LabelSelector {

  /** Whether an object with these labels is selected. */
  boolean matches(Map<String, String> labels);

  /** Selects nothing: an absent selector. */
  record Nothing() implements LabelSelector {
    @Override
    public boolean matches(Map<String, String> labels) {
      return false;
    }
  }

  /** Selects objects that meet all requirements; without requirements, every object. */
  record Requirements(List<LabelRequirement> requirements) implements LabelSelector {
    public Requirements {
      requirements = List.copyOf(requirements);
    }

    @Override
    public boolean matches(Map<String, String> labels) {
      for (LabelRequirement requirement : requirements) {
        if (!requirement.matches(labels)) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * One requirement on labels, from a label selector or from node affinity.
   *
   * @param key key of the label
   * @param operator how the label's value is compared
   * @param values the values of the comparison; empty for Exists and DoesNotExist, one value for Gt
   *     and Lt
   */
  public record LabelRequirement(String key, Operator operator, List<String> values) {

    /** How the value of a label is compared; Gt and Lt exist for nodes only. */
    public enum Operator {
      IN,
      NOT_IN,
      EXISTS,
      DOES_NOT_EXIST,
      GT,
      LT
    }

    public LabelRequirement {
      values = List.copyOf(values);
    }

    /** Whether {@code labels} meet the requirement, by the rules of Kubernetes. */
    public boolean matches(Map<String, String> labels) {
      String actual = labels.get(key);
      return switch (operator) {
        case IN -> actual != null && values.contains(actual);
        case NOT_IN -> actual == null || !values.contains(actual);
        case EXISTS -> actual != null;
        case DOES_NOT_EXIST -> actual == null;
        case GT -> compare(actual) > 0;
        case LT -> compare(actual) < 0;
      };
    }

    /**
     * The sign of (actual - wanted) for whole numbers; 0, which meets neither Gt nor Lt, if either
     * value is not a whole number.
     */
    private int compare(@Nullable String actual) {
      if (actual == null || values.size() != 1) {
        return 0;
      }
      try {
        return Long.compare(Long.parseLong(actual), Long.parseLong(values.getFirst()));
      } catch (NumberFormatException e) {
        return 0;
      }
    }
  }
}
