package dev.sluice.kinds;

import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Counts the lines of sources that are neither blank nor comments. */
final class CodeLines {

  private CodeLines() {}

  /** Those of the source of a class. */
  static int of(Class<?> type) {
    return of(file(type));
  }

  /** Those of all sources of the class's package. */
  static int ofPackage(Class<?> type) {
    try (Stream<Path> files = Files.list(file(type).getParent())) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.endsWith("package-info.java"))
          .mapToInt(CodeLines::of)
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path file(Class<?> type) {
    return SourceTrees.mainFile(
        type.getName().substring("dev.sluice.".length()).replace('.', '/') + ".java");
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
