package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Persistent record of a process, by which other processes recognise it.
 *
 * @param program the program; empty for the process that started the others
 * @param pid the process id, which the system may have reused
 * @param startedAtMillis start time in milliseconds since the epoch
 */
record ProcessRecord(Optional<Program> program, long pid, long startedAtMillis) {

  /** Systems report start times with low precision, relative to a boot time that drifts. */
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

  /** Whether the recorded process still runs. */
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

  /** The process, if it runs and is a program of a control plane. */
  Optional<ManagedProcess> open(Layout layout) {
    return program
        .filter(known -> isAlive())
        .map(known -> ManagedProcess.found(known.file(), pid, layout.log(known)));
  }
}
