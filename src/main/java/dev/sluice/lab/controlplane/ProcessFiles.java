package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** What Linux tells about a process in {@code /proc}; elsewhere, nothing. */
final class ProcessFiles {

  private static final String PEAK = "VmHWM:";

  private ProcessFiles() {}

  /** Whether it has ended and only waits for its parent to take note. */
  static boolean isZombie(long pid) {
    String stat = read(pid, "stat");
    // pid (name, which may hold anything) state ...
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
      // A process that ends while it is read: "No such process".
      if (!Files.exists(Path.of("/proc", Long.toString(pid)))) {
        return "";
      }
      throw new UncheckedIOException(e);
    }
  }
}
