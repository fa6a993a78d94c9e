package dev.sluice.lab.controlplane;

/** How long the processes of a control plane live. */
public enum Lifetime {
  /** Until it is closed, or the Java process that started it ends, in whatever way. */
  WITH_THIS_PROCESS,
  /** Until somebody stops it by its name. */
  UNTIL_STOPPED
}
