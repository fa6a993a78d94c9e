package dev.sluice.lab.controlplane;

/** Lifetime of the processes of a control plane. */
public enum Lifetime {
  /** Until the control plane is closed or the Java process that started it ends, for any reason. */
  WITH_THIS_PROCESS,
  /** Until it is stopped by name. */
  UNTIL_STOPPED
}
