package dev.sluice.lab.demo;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How much a terminal shows.
 *
 * @param rows at least 10
 * @param columns at least 60
 */
record TerminalSize(int rows, int columns) {

  private static final int LEAST_ROWS = 10;
  private static final int LEAST_COLUMNS = 60;
  private static final TerminalSize USUAL = new TerminalSize(24, 80);
  private static final long LIMIT_SECONDS = 2;

  /** Whether somebody looks at what is printed: standard output is a terminal. */
  static boolean isTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  /** The size that the terminal of this process has now; the usual one where it doesn't say so. */
  static TerminalSize now() {
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(new File("/dev/tty"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String said = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      boolean ended = stty.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      return ended ? parse(said) : USUAL;
    } catch (IOException e) {
      return USUAL;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return USUAL;
    }
  }

  /** The text, cut so that it and so many characters more are less than a line. */
  String fitting(String text, int more) {
    int most = columns - 1 - more;
    return text.length() <= most ? text : text.substring(0, most - 3) + "...";
  }

  /** The text in lines that fit, broken between words, the further ones indented. */
  List<String> wrapped(String text, String indent) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (line.length() > indent.length() && line.length() + 1 + word.length() >= columns) {
        lines.add(line.toString());
        line = new StringBuilder(indent).append(word);
      } else {
        line.append(line.isEmpty() ? "" : " ").append(word);
      }
    }
    lines.add(line.toString());
    return lines;
  }

  /** Reads rows and columns, separated by a blank. */
  static TerminalSize parse(String said) {
    String[] numbers = said.strip().split(" ");
    try {
      int rows = Integer.parseInt(numbers[0]);
      int columns = Integer.parseInt(numbers[numbers.length - 1]);
      return rows <= 0 || columns <= 0
          ? USUAL
          : new TerminalSize(Math.max(LEAST_ROWS, rows), Math.max(LEAST_COLUMNS, columns));
    } catch (NumberFormatException e) {
      return USUAL;
    }
  }
}
