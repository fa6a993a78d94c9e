package dev.sluice.core.model;

/** A taint of the nodes of a flavor; {@code value} is empty for a taint without value. */
public record Taint(String key, String value, String effect) {

  /**
   * Whether the taint keeps pods without a toleration off the nodes: NoSchedule and NoExecute do,
   * PreferNoSchedule doesn't.
   */
  public boolean keepsPodsOff() {
    return effect.equals("NoSchedule") || effect.equals("NoExecute");
  }

  @Override
  public String toString() {
    return value.isEmpty() ? key + ":" + effect : key + "=" + value + ":" + effect;
  }
}
