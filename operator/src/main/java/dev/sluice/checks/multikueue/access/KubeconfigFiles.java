package dev.sluice.checks.multikueue.access;

import dev.sluice.checks.multikueue.access.WorkerAccess.InvalidAccessException;
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
      Path kubeconfig = file(FIELD, location);
      return KubeconfigValidator.read(
          text(FIELD, kubeconfig, location),
          (field, named) -> {
            // Relative to the place that the kubeconfig is named with, as all clients do.
            String key = Path.of(location).resolveSibling(relative(field, named)).toString();
            return text(field, file(field, key), key);
          });
    } catch (InvalidAccessException e) {
      return e.refusal();
    }
  }

  private static Path relative(String field, String named) throws InvalidAccessException {
    try {
      return Path.of(named);
    } catch (InvalidPathException e) {
      throw InvalidAccessException.bad(field, "is not a path", "a path");
    }
  }

  private Path file(String field, String location) throws InvalidAccessException {
    Path path = path(field, location);
    if (!confined) {
      return path;
    }
    String allowed = "a file under " + root;
    if (!path.normalize().toString().equals(location)) {
      throw InvalidAccessException.bad(
          field, "\"" + location + "\" has .. or other detours", allowed);
    }
    if (!path.startsWith(root) || path.equals(root)) {
      throw InvalidAccessException.bad(field, "\"" + location + "\" lies elsewhere", allowed);
    }
    try {
      Path real = path.toRealPath();
      if (!real.startsWith(root.toRealPath())) {
        throw InvalidAccessException.bad(
            field, "\"" + location + "\" leads elsewhere by a link", allowed);
      }
      return real;
    } catch (IOException e) {
      throw missing(field, location);
    }
  }

  private static Path path(String field, String location) throws InvalidAccessException {
    try {
      Path path = Path.of(location);
      if (path.isAbsolute()) {
        return path;
      }
    } catch (InvalidPathException e) {
      throw InvalidAccessException.bad(field, "is not a path", "an absolute path");
    }
    throw InvalidAccessException.bad(
        field, "\"" + location + "\" is not absolute", "an absolute path");
  }

  private static String text(String field, Path file, String location)
      throws InvalidAccessException {
    try {
      if (!Files.isRegularFile(file)) {
        throw missing(field, location);
      }
      if (Files.size(file) > MAX_BYTES) {
        throw InvalidAccessException.bad(
            field, "\"" + location + "\" is too large", MAX_BYTES + " bytes");
      }
      return Files.readString(file);
    } catch (IOException e) {
      throw InvalidAccessException.bad(
          field,
          "\"" + location + "\" can't be read as text",
          field.equals(FIELD) ? "a kubeconfig" : "a file in PEM");
    }
  }

  private static InvalidAccessException missing(String field, String location) {
    return InvalidAccessException.bad(
        field,
        "file \"" + location + "\" does not exist",
        field.equals(FIELD)
            ? "a file with a kubeconfig; once it exists, it is read within seconds"
            : "a file in PEM; once it exists, it is read within seconds");
  }
}
