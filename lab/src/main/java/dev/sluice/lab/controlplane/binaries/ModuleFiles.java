package dev.sluice.lab.controlplane.binaries;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The Go module files of {@code tools/control-plane}, the only place that pins the versions of a
 * control plane's programs.
 */
public final class ModuleFiles {

  private static final String ROOT = "/dev/sluice/lab/controlplane/modules/";
  private static final List<String> FILES = List.of("go.mod", "go.sum");

  private final String kubernetes;

  /** Those of the versions that demos and tests run on. */
  public ModuleFiles() {
    this("");
  }

  /**
   * The same with another version of Kubernetes.
   *
   * @param kubernetes the minor version, such as {@code 1.29}, for which there is a folder {@code
   *     kubernetes-1.29}; empty for the usual one
   * @throws IllegalArgumentException if there is no such folder
   */
  public ModuleFiles(String kubernetes) {
    this.kubernetes = kubernetes;
    if (ModuleFiles.class.getResource(path(Bundle.KUBERNETES, "go.mod")) == null) {
      throw new IllegalArgumentException(
          "nothing in tools/control-plane pins Kubernetes " + kubernetes);
    }
  }

  /** The pinned version of a bundle, such as {@code v1.36.3}. */
  public String version(Bundle bundle) {
    Pattern requirement =
        Pattern.compile("(?m)^\\s*(?:require )?" + Pattern.quote(bundle.module()) + " (v\\S+)");
    Matcher matcher = requirement.matcher(read(bundle, "go.mod"));
    if (!matcher.find()) {
      throw new IllegalStateException(
          "the go.mod of " + bundle.title() + " requires no version of " + bundle.module());
    }
    return matcher.group(1);
  }

  /** Writes the module files of a bundle into a directory. */
  void copyTo(Bundle bundle, Path directory) throws IOException {
    for (String file : FILES) {
      Files.writeString(directory.resolve(file), read(bundle, file));
    }
  }

  private String path(Bundle bundle, String file) {
    String version = bundle == Bundle.KUBERNETES && !kubernetes.isEmpty() ? "-" + kubernetes : "";
    return ROOT + bundle.title() + version + "/" + file;
  }

  private String read(Bundle bundle, String file) {
    String path = path(bundle, file);
    try (InputStream in = ModuleFiles.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
