package dev.sluice.parity;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** The lists that are kept by hand, and the sources of the program. */
final class ParityFiles {

  private static final SortedMap<String, String> SOURCES = read();

  private ParityFiles() {}

  /** The lines of a list, without comments. */
  static List<String> lines(String name) {
    try (InputStream list = ParityFiles.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(list, name).readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#") && !line.isBlank())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is before the first separator of each line, and what follows it. */
  static Map<String, String> texts(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    for (String line : lines(name)) {
      int end = line.indexOf(": ");
      if (end < 0 || texts.put(line.substring(0, end), line.substring(end + 2)) != null) {
        throw new IllegalArgumentException(name + ": " + line);
      }
    }
    return texts;
  }

  /**
   * The sources of the operator, by their path below the root package, such as {@code
   * queues/QueueControllers.java}. The laboratory isn't among them.
   */
  static SortedMap<String, String> sources() {
    return SOURCES;
  }

  /** The sources of the tests, by path; those of the pages that list all gates are left out. */
  static Map<String, String> tests() {
    SortedMap<String, String> tests = new TreeMap<>();
    try {
      for (Path file : SourceTrees.javaFiles("src/test/java")) {
        if (!file.toString().contains("/parity/")) {
          tests.put(file.toString(), Files.readString(file));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return tests;
  }

  private static SortedMap<String, String> read() {
    SortedMap<String, String> sources = new TreeMap<>();
    try {
      for (Path file : SourceTrees.shipped()) {
        sources.put(SourceTrees.name(file), Files.readString(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return sources;
  }

  /** The room of a source, the package below the root. */
  static String room(String source) {
    return source.substring(0, source.indexOf('/'));
  }
}
