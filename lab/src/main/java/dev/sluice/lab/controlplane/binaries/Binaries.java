package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/** The executable files of all programs of a control plane. */
public final class Binaries {

  private final Map<Bundle, Path> directories;

  /** Uses one directory per bundle; every bundle must be present. */
  public Binaries(Map<Bundle, Path> directories) {
    this.directories = new EnumMap<>(directories);
    for (Bundle bundle : Bundle.values()) {
      if (!this.directories.containsKey(bundle)) {
        throw new IllegalArgumentException("no directory for " + bundle.title());
      }
    }
  }

  /** The executable file of a program. */
  public Path file(Program program) {
    Path directory = directories.get(program.bundle());
    if (directory == null) {
      throw new IllegalStateException("no directory for " + program.bundle().title());
    }
    return directory.resolve(program.file());
  }
}
