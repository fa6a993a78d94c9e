package dev.sluice.metrics;

import java.util.Locale;
import java.util.Optional;

/**
 * Version and platform of the operator.
 *
 * @param version version of the project
 * @param commit commit of the build; {@code unknown} if not recorded
 * @param date date of the build; {@code unknown} if not recorded
 * @param runtime the Java runtime, such as {@code java25.0.3}
 * @param compiler the virtual machine
 * @param platform operating system and processor, such as {@code linux/amd64}
 */
public record BuildInfo(
    String version, String commit, String date, String runtime, String compiler, String platform) {

  private static final String UNKNOWN = "unknown";

  /** Reads the jar's manifest and the system properties of the Java runtime. */
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
