package dev.sluice.core.model;

/**
 * A toleration of a pod or of a flavor. Absent fields are empty strings; an empty operator means
 * Equal, an empty effect matches every effect, an empty key (with Exists) matches every key.
 */
public record Toleration(String key, String operator, String value, String effect) {

  /** Whether a pod with this toleration may run on nodes with {@code taint} (Kubernetes' rule). */
  public boolean tolerates(Taint taint) {
    if (!effect.isEmpty() && !effect.equals(taint.effect())) {
      return false;
    }
    if (!key.isEmpty() && !key.equals(taint.key())) {
      return false;
    }
    return switch (operator) {
      case "Exists" -> true;
      case "", "Equal" -> !key.isEmpty() && value.equals(taint.value());
      default -> false;
    };
  }
}
