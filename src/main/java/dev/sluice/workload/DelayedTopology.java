package dev.sluice.workload;

import dev.sluice.core.model.PodSetTopology.Delay;

/** The field {@code delayedTopologyRequest} of an assignment. */
final class DelayedTopology {

  private DelayedTopology() {}

  /** The delay that a value of the field means; anything else is none. */
  static Delay of(String text) {
    return switch (text) {
      case "Pending" -> Delay.PENDING;
      case "Ready" -> Delay.READY;
      default -> Delay.NONE;
    };
  }

  /** The value of the field; empty if it is to be absent. */
  static String text(Delay delay) {
    return switch (delay) {
      case PENDING -> "Pending";
      case READY -> "Ready";
      case NONE -> "";
    };
  }
}
