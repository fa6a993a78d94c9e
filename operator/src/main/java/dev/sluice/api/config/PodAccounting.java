package dev.sluice.api.config;

import java.util.Map;

/** Whether the pods of Workloads are counted and compared with what these were admitted with. */
public enum PodAccounting {
  /** They aren't. */
  OFF,
  /** A Workload that runs more than it was admitted with is evicted. */
  DETECT,
  /** The same, and a pod with which a Workload would run more is refused before it exists. */
  PREVENT;

  /** Whether pods are compared at all. */
  public boolean isOn() {
    return this != OFF;
  }

  /** The words of the configuration. */
  static final Map<String, PodAccounting> WORDS =
      Map.of("Off", OFF, "Detect", DETECT, "Prevent", PREVENT);
}
