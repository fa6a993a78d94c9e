package dev.sluice.checks.multikueue.access;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Reads kubeconfigs from the operator's file system. */
public final class KubeconfigFiles {

  /** The directory for kubeconfig files. */
  public static final Path ROOT = Path.of("/etc/multikueue/kubeconfigs");

  private static final String FIELD = "clusterSource.kubeConfig.location";
  private static final int MAX_BYTES = 1 << 20;

  private final Path root;
  private final boolean confined;

  /**
   * Creates a reader.
   *
   * @param root the directory for kubeconfig files
   * @param confined whether files outside the directory are refused
   */
  public KubeconfigFiles(Path root, boolean confined) {
    this.root = root;
    this.confined = confined;
  }

  /** The access that the file gives at the time of the call. */
  public WorkerAccess read(String location) {
    try {
      return KubeconfigValidator.read(text(file(location), location));
    } catch (InvalidAccessException e) {
      return e.refusal();
    }
  }

  private Path file(String location) throws InvalidAccessException {
    Path path = path(location);
    if (!confined) {
      return path;
    }
    String allowed = "a file under " + root;
    if (!path.normalize().toString().equals(location)) {
      throw InvalidAccessException.bad(
          FIELD, "\"" + location + "\" has .. or other detours", allowed);
    }
    if (!path.startsWith(root) || path.equals(root)) {
      throw InvalidAccessException.bad(FIELD, "\"" + location + "\" lies elsewhere", allowed);
    }
    try {
      Path real = path.toRealPath();
      if (!real.startsWith(root.toRealPath())) {
        throw InvalidAccessException.bad(
            FIELD, "\"" + location + "\" leads elsewhere by a link", allowed);
      }
      return real;
    } catch (IOException e) {
      throw missing(location);
    }
  }

  private static Path path(String location) throws InvalidAccessException {
    try {
      Path path = Path.of(location);
      if (path.isAbsolute()) {
        return path;
      }
    } catch (InvalidPathException e) {
      throw InvalidAccessException.bad(FIELD, "is not a path", "an absolute path");
    }
    throw InvalidAccessException.bad(
        FIELD, "\"" + location + "\" is not absolute", "an absolute path");
  }

  private static String text(Path file, String location) throws InvalidAccessException {
    try {
      if (!Files.isRegularFile(file)) {
        throw missing(location);
      }
      if (Files.size(file) > MAX_BYTES) {
        throw InvalidAccessException.bad(
            FIELD, "\"" + location + "\" is too large", MAX_BYTES + " bytes");
      }
      return Files.readString(file);
    } catch (IOException e) {
      throw InvalidAccessException.bad(
          FIELD, "\"" + location + "\" can't be read as text", "a kubeconfig");
    }
  }

  private static InvalidAccessException missing(String location) {
    return InvalidAccessException.bad(
        FIELD,
        "file \"" + location + "\" does not exist",
        "a file with a kubeconfig; once it exists, it is read within seconds");
  }
}
