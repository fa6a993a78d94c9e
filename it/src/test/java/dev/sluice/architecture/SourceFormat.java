package dev.sluice.architecture;

import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The project's one source format: google-java-format, imports ordered and none unused. */
public final class SourceFormat {

  private SourceFormat() {}

  /** Rewrites every source file of the checkout in the project's format. */
  public static void main(String[] args) throws IOException {
    for (Path file : deviating()) {
      Files.writeString(file, formatted(file));
      System.out.println("formatted " + file);
    }
  }

  /** The Java files of all modules that are not in the project's format. */
  static List<Path> deviating() throws IOException {
    List<Path> result = new ArrayList<>();
    for (Path file : SourceTrees.javaFiles("src")) {
      if (!formatted(file).equals(Files.readString(file))) {
        result.add(file);
      }
    }
    return result;
  }

  private static String formatted(Path file) throws IOException {
    try {
      String source = Files.readString(file);
      String imports =
          ImportOrderer.reorderImports(
              RemoveUnusedImports.removeUnusedImports(source), JavaFormatterOptions.Style.GOOGLE);
      return new Formatter().formatSource(imports);
    } catch (FormatterException e) {
      throw new IOException(file + " can't be parsed: " + e.getMessage(), e);
    }
  }
}
