package dev.sluice.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The options of the Java machine: {@code jvm.options} for every process, and {@code
 * container.options} for the operator in its container besides.
 */
public final class JvmOptions {

  private JvmOptions() {}

  /** The options of every process in the order of the file, one element each. */
  public static List<String> all() {
    return of("jvm.options");
  }

  /** The further options of the operator in its container, one element each. */
  public static List<String> container() {
    return of("container.options");
  }

  private static List<String> of(String file) {
    try (InputStream in = JvmOptions.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing beside " + JvmOptions.class);
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
