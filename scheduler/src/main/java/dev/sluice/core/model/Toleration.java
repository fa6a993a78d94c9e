package dev.sluice.core.model;

/**
 * A toleration of a pod or of a flavor. Absent fields are empty strings; an empty operator means
 * Equal, an empty effect matches every effect, an empty key (with Exists) matches every key.
 *
 * @param temporary whether pods are taken off the node some time after it got the taint
 */
public record Toleration(
    String key, String operator, String value, String effect, boolean temporary) {

  /** A toleration without end. */
  public Toleration(String key, String operator, String value, String effect) {
    this(key, operator, value, effect, false);
  }

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
