package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A directory that the user named and that contains all programs. */
public final class DirectorySource implements BinarySource {

  private final Path directory;

  /** Uses the given directory, which need not exist. */
  public DirectorySource(Path directory) {
    this.directory = directory;
  }

  @Override
  public String name() {
    return "directory " + directory;
  }

  @Override
  public Path obtain(Bundle bundle) throws SourceFailedException {
    if (!Files.isDirectory(directory)) {
      throw new SourceFailedException("there is no such directory");
    }
    List<String> missing = missing(bundle, directory);
    if (!missing.isEmpty()) {
      throw new SourceFailedException("has no executable file named " + String.join(", ", missing));
    }
    return directory.toAbsolutePath();
  }

  /** The files of the bundle that are missing or not executable. */
  static List<String> missing(Bundle bundle, Path directory) {
    return bundle.programs().stream()
        .map(Program::file)
        .filter(file -> !Files.isExecutable(directory.resolve(file)))
        .toList();
  }
}
