package dev.sluice.metrics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.util.Locale;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * Version and platform of the operator.
 *
 * @param version version of the project
 * @param commit commit that was built; {@code unknown} if the build didn't know it
 * @param date time of that commit; {@code unknown} if the build didn't know it
 * @param runtime the Java runtime, such as {@code java25.0.3}
 * @param compiler the virtual machine
 * @param platform operating system and processor, such as {@code linux/amd64}
 */
public record BuildInfo(
    String version, String commit, String date, String runtime, String compiler, String platform) {

  private static final String UNKNOWN = "unknown";

  /** Reads the jar's manifest and the system properties of the Java runtime. */
  public static BuildInfo ofThisProcess() {
    return of(BuildInfo.class.getResource("BuildInfo.class"));
  }

  /** The same, by the manifest of the jar that this resource is in, if it is in one. */
  static BuildInfo of(@Nullable URL resource) {
    Attributes attributes = manifest(resource);
    return new BuildInfo(
        entry(attributes, "Implementation-Version"),
        entry(attributes, "Build-Commit"),
        entry(attributes, "Build-Date"),
        "java"
            + Runtime.version().feature()
            + "."
            + Runtime.version().interim()
            + "."
            + Runtime.version().update(),
        System.getProperty("java.vm.name", UNKNOWN),
        System.getProperty("os.name", UNKNOWN).toLowerCase(Locale.ROOT)
            + "/"
            + System.getProperty("os.arch", UNKNOWN));
  }

  private static String entry(Attributes attributes, String name) {
    String value = attributes.getValue(name);
    return value == null ? UNKNOWN : value;
  }

  private static Attributes manifest(@Nullable URL resource) {
    try {
      if (resource == null || !(resource.openConnection() instanceof JarURLConnection connection)) {
        return new Attributes();
      }
      connection.setUseCaches(false);
      try (JarFile jar = connection.getJarFile()) {
        return jar.getManifest() == null ? new Attributes() : jar.getManifest().getMainAttributes();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the program's jar can't be read", e);
    }
  }
}
