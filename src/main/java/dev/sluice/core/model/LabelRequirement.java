package dev.sluice.core.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One requirement on labels, of a label selector or of node affinity.
 *
 * @param key the label
 * @param operator how it is compared
 * @param values what it is compared with; empty for Exists and DoesNotExist, one for Gt and Lt
 */
public record LabelRequirement(String key, Operator operator, List<String> values) {

  /** How a label is compared; Gt and Lt exist for nodes only. */
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

  /** Whether {@code labels} meet it, by Kubernetes' rules. */
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

  /** The sign of (actual - wanted) for whole numbers; 0, which meets neither, if one is none. */
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
