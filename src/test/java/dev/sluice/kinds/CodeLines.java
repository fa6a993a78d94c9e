package dev.sluice.kinds;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Counts the lines of sources that are neither blank nor comments. */
final class CodeLines {

  private static final Path MAIN = Path.of("src", "main", "java");

  private CodeLines() {}

  /** Those of the source of a class. */
  static int of(Class<?> type) {
    return of(MAIN.resolve(type.getName().replace('.', '/') + ".java"));
  }

  /** Those of all sources of the class's package. */
  static int ofPackage(Class<?> type) {
    Path directory = MAIN.resolve(type.getPackageName().replace('.', '/'));
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.endsWith("package-info.java"))
          .mapToInt(CodeLines::of)
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int of(Path file) {
    try {
      return count(Files.readAllLines(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Comments have lines of their own, as the format of the sources has it. */
  static int count(List<String> lines) {
    int count = 0;
    boolean comment = false;
    for (String line : lines) {
      String text = line.strip();
      comment |= text.startsWith("/*");
      if (!comment && !text.isEmpty() && !text.startsWith("//")) {
        count++;
      }
      comment &= !text.endsWith("*/");
    }
    return count;
  }
}
