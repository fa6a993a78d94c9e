package dev.sluice.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a process has used.
 *
 * @param cpu processor time of all its threads since its start, in user and system mode
 * @param peakResidentKiB most memory that was resident at a time; 0 where the system doesn't say
 */
record ProcessReading(Duration cpu, long peakResidentKiB) {

  private static final String PEAK = "VmHWM:";

  /**
   * Reads it now.
   *
   * @throws BenchException when there is no such process, or none that may be looked at
   */
  static ProcessReading of(long pid) {
    Duration cpu =
        ProcessHandle.of(pid)
            .flatMap(process -> process.info().totalCpuDuration())
            .orElseThrow(
                () ->
                    new BenchException("process %d: there is none, or not to see".formatted(pid)));
    return new ProcessReading(cpu, peak(Path.of("/proc", Long.toString(pid), "status")));
  }

  private static long peak(Path status) {
    if (!Files.isReadable(status)) {
      return 0;
    }
    try {
      return parsePeak(Files.readString(status));
    } catch (IOException e) {
      throw new BenchException("can't read " + status + ": " + e.getMessage(), e);
    }
  }

  static long parsePeak(String status) {
    return status
        .lines()
        .filter(line -> line.startsWith(PEAK))
        .map(line -> line.substring(PEAK.length()).replace("kB", "").strip())
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElse(0);
  }
}
