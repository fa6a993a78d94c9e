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
  private static final String RESIDENT = "VmRSS:";
  private static final String ANONYMOUS = "RssAnon:";

  /**
   * What a process has in memory at one time; zeros where the system doesn't report it.
   *
   * @param residentKiB all of it
   * @param anonymousKiB of it what belongs to no file, which the system can't drop
   */
  record Memory(long residentKiB, long anonymousKiB) {

    static final Memory NONE = new Memory(0, 0);

    /** Reads the present memory. */
    static Memory of(long pid) {
      String status = status(pid);
      return new Memory(kiB(status, RESIDENT), kiB(status, ANONYMOUS));
    }

    /** The greater of each. */
    Memory max(Memory other) {
      return new Memory(
          Math.max(residentKiB, other.residentKiB), Math.max(anonymousKiB, other.anonymousKiB));
    }
  }

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
    return new ProcessReading(cpu, parsePeak(status(pid)));
  }

  private static String status(long pid) {
    Path status = Path.of("/proc", Long.toString(pid), "status");
    if (!Files.isReadable(status)) {
      return "";
    }
    try {
      return Files.readString(status);
    } catch (IOException e) {
      throw new BenchException("can't read " + status + ": " + e.getMessage(), e);
    }
  }

  static long parsePeak(String status) {
    return kiB(status, PEAK);
  }

  private static long kiB(String status, String field) {
    return status
        .lines()
        .filter(line -> line.startsWith(field))
        .map(line -> line.substring(field.length()).replace("kB", "").strip())
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElse(0);
  }
}
