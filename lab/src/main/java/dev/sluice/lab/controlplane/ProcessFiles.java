package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Process information of Linux from {@code /proc}; empty on other systems. */
final class ProcessFiles {

  private static final String PEAK = "VmHWM:";

  private ProcessFiles() {}

  /** Whether the process has ended and its parent has not reaped it. */
  static boolean isZombie(long pid) {
    String stat = read(pid, "stat");
    // format: pid (name, which may contain any character) state ...
    int end = stat.lastIndexOf(')');
    return end >= 0 && stat.startsWith(" Z", end + 1);
  }

  static long peakResidentBytes(long pid) {
    return read(pid, "status")
        .lines()
        .filter(line -> line.startsWith(PEAK))
        .map(line -> line.substring(PEAK.length()).replace("kB", "").strip())
        .mapToLong(kilobytes -> Long.parseLong(kilobytes) * 1024)
        .findFirst()
        .orElse(0);
  }

  private static String read(long pid, String file) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(pid), file));
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      // a process that ends during the read causes "No such process"
      if (!Files.exists(Path.of("/proc", Long.toString(pid)))) {
        return "";
      }
      throw new UncheckedIOException(e);
    }
  }
}
