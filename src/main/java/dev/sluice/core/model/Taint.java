package dev.sluice.core.model;

/** A taint of the nodes behind a flavor; {@code value} is empty when it has none. */
public record Taint(String key, String value, String effect) {

  /** Whether pods that don't tolerate it are kept off: NoSchedule and NoExecute, not Prefer…. */
  public boolean keepsPodsOff() {
    return effect.equals("NoSchedule") || effect.equals("NoExecute");
  }

  @Override
  public String toString() {
    return value.isEmpty() ? key + ":" + effect : key + "=" + value + ":" + effect;
  }
}
