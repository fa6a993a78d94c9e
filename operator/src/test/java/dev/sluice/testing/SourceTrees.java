package dev.sluice.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The sources of all modules, for tests of what holds for each of them. Paths begin at the top of
 * the checkout, where tests of all modules run.
 */
public final class SourceTrees {

  /** The modules, in the order in which they use each other. */
  public static final List<String> MODULES = List.of("scheduler", "operator", "lab", "it");

  private static final String MAIN = "src/main/java";
  private static final String TREE = MAIN + "/dev/sluice/";

  private SourceTrees() {}

  /** The Java files of what is shipped, and of the laboratory, in path order. */
  public static List<Path> main() {
    return javaFiles(MAIN);
  }

  /** Those of what is shipped alone. */
  public static List<Path> shipped() {
    return main().stream().filter(file -> !file.startsWith("lab")).toList();
  }

  /**
   * The Java files of all modules below a directory, in path order.
   *
   * @param below from a module's directory, such as {@code src/test/java}
   * @throws UncheckedIOException if the checkout can't be read
   */
  public static List<Path> javaFiles(String below) {
    return MODULES.stream()
        .map(module -> Path.of(module, below))
        .filter(Files::isDirectory)
        .flatMap(root -> walk(root).stream())
        .toList();
  }

  /**
   * The file of a source, whichever module has it.
   *
   * @param name below the root package, such as {@code app/Main.java}
   * @throws IllegalArgumentException if no module has it
   */
  public static Path mainFile(String name) {
    return MODULES.stream()
        .map(module -> Path.of(module, TREE, name))
        .filter(Files::exists)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no module has " + name));
  }

  /** The path of a source below the root package, such as {@code app/Main.java}. */
  public static String name(Path source) {
    String path = source.toString().replace('\\', '/');
    return path.substring(path.indexOf(TREE) + TREE.length());
  }

  private static List<Path> walk(Path root) {
    try (Stream<Path> files = Files.walk(root)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
