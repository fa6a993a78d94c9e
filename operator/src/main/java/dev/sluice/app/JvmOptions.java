package dev.sluice.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The options of the Java machine that runs the operator: those of {@code jvm.options}. */
public final class JvmOptions {

  private static final String FILE = "jvm.options";

  private JvmOptions() {}

  /** The options in the order of the file, one element each. */
  public static List<String> all() {
    try (InputStream in = JvmOptions.class.getResourceAsStream(FILE)) {
      if (in == null) {
        throw new IllegalStateException(FILE + " is missing beside " + JvmOptions.class);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
