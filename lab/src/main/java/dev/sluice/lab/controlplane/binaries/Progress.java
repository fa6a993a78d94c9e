package dev.sluice.lab.controlplane.binaries;

/** Listener for progress of long operations, one line at a time. */
@FunctionalInterface
public interface Progress {

  /** Shows one line, given without a line break, to the user. */
  void say(String line);

  /** Writes each line to the process's error stream. */
  static Progress onStandardError() {
    return line -> System.err.println("control-plane: " + line);
  }
}
