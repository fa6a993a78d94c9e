package dev.sluice.lab.controlplane.binaries;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Files that look like programs. */
final class Programs {

  private Programs() {}

  /** Makes an executable file that says {@code text}. */
  static Path make(Path directory, String file, String text) {
    try {
      Path program = directory.resolve(file);
      Files.writeString(program, "#!/bin/sh\n" + text + "\n");
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
      return program;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes all programs of a bundle. */
  static void make(Path directory, Bundle bundle) {
    bundle.programs().forEach(program -> make(directory, program.file(), "echo " + program));
  }
}
