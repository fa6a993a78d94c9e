package dev.sluice.metrics;

import java.util.Locale;
import java.util.Optional;

/**
 * What an operator was built from and runs on.
 *
 * @param version version of the project
 * @param commit commit it was built from; {@code unknown} when it isn't told
 * @param date when it was built; {@code unknown} when it isn't told
 * @param runtime the Java runtime, such as {@code java25.0.3}
 * @param compiler the virtual machine that compiles and runs it
 * @param platform operating system and processor, such as {@code linux/amd64}
 */
public record BuildInfo(
    String version, String commit, String date, String runtime, String compiler, String platform) {

  private static final String UNKNOWN = "unknown";

  /** What the jar's manifest and the running Java machine tell. */
  public static BuildInfo ofThisProcess() {
    String version =
        Optional.ofNullable(BuildInfo.class.getPackage().getImplementationVersion())
            .orElse(UNKNOWN);
    return new BuildInfo(
        version,
        UNKNOWN,
        UNKNOWN,
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
}
