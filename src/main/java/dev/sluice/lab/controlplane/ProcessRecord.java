package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A process as it is written down, so that it is recognised later, and by other processes.
 *
 * @param program what it runs; empty for the process that started the others
 * @param pid the process id, which the system may meanwhile have given to another
 * @param startedAtMillis when it was started, in milliseconds since the epoch
 */
record ProcessRecord(Optional<Program> program, long pid, long startedAtMillis) {

  /** Systems tell the start with little precision, relative to a boot time that drifts. */
  private static final Duration TOLERANCE = Duration.ofSeconds(3);

  static ProcessRecord of(Program program, ManagedProcess process) {
    return new ProcessRecord(
        Optional.of(program), process.pid(), process.startedAt().toEpochMilli());
  }

  static ProcessRecord ofThisProcess() {
    ProcessHandle own = ProcessHandle.current();
    long start = own.info().startInstant().orElse(Instant.EPOCH).toEpochMilli();
    return new ProcessRecord(Optional.empty(), own.pid(), start);
  }

  /** Whether the process runs, and is the one that was written down. */
  boolean isAlive() {
    Optional<ProcessHandle> handle = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    return handle.isPresent()
        && !ProcessFiles.isZombie(pid)
        && handle.get().info().startInstant().map(this::isStart).orElse(false);
  }

  private boolean isStart(Instant start) {
    Duration difference = Duration.between(Instant.ofEpochMilli(startedAtMillis), start).abs();
    return difference.compareTo(TOLERANCE) <= 0;
  }

  /** A handle of the process, when it is alive and a program of a control plane. */
  Optional<ManagedProcess> open(Layout layout) {
    return program
        .filter(known -> isAlive())
        .map(known -> ManagedProcess.found(known.file(), pid, layout.log(known)));
  }
}
