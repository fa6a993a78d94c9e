package dev.sluice.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Resource usage of a process.
 *
 * @param cpu processor time of all its threads since its start, in user and system mode
 * @param peakResidentKiB peak resident memory; 0 where the system does not report it
 */
record ProcessReading(Duration cpu, long peakResidentKiB) {

  private static final String PEAK = "VmHWM:";

  /**
   * Reads the present usage.
   *
   * @throws BenchException when the process does not exist or is not readable
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
