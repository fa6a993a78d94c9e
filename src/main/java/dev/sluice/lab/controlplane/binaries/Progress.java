package dev.sluice.lab.controlplane.binaries;

/** Is told, one line at a time, what takes long. */
@FunctionalInterface
public interface Progress {

  /** Takes one line, without its end, to be shown to the person who waits. */
  void say(String line);

  /** Shows each line on the process's error stream. */
  static Progress onStandardError() {
    return line -> System.err.println("control-plane: " + line);
  }
}
