package dev.sluice.lab.controlplane.binaries;

import java.util.Locale;

/**
 * An operating system and a processor architecture, by the names that Go gives them.
 *
 * @param os such as {@code linux}
 * @param arch such as {@code amd64}
 */
public record Platform(String os, String arch) {

  /** The platform this Java process runs on. */
  public static Platform current() {
    return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
  }

  static Platform of(String osName, String osArch) {
    String os = osName.toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : firstWord(osName);
    String arch =
        switch (osArch) {
          case "x86_64" -> "amd64";
          case "aarch64" -> "arm64";
          default -> osArch;
        };
    return new Platform(os, arch);
  }

  private static String firstWord(String osName) {
    int end = osName.indexOf(' ');
    return (end < 0 ? osName : osName.substring(0, end)).toLowerCase(Locale.ROOT);
  }

  /** For example {@code linux-amd64}. */
  @Override
  public String toString() {
    return os + "-" + arch;
  }
}
