package dev.sluice.cli.demo;

import java.io.Console;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** Chooses how a story is shown, and closes it with a summary. */
final class Screens {

  private static final int LEAST_WIDTH = 60;
  private static final int USUAL_WIDTH = 120;

  private Screens() {}

  /** A table on a terminal, a line for each thing elsewhere. */
  static Screen open(
      PrintWriter out, Board board, List<? extends Expectation> expectations, InstantSource clock) {
    Console console = System.console();
    return console != null && console.isTerminal()
        ? new LiveScreen(out, board, expectations, clock, width())
        : new PlainScreen(out, board, clock);
  }

  private static int width() {
    try {
      return Math.max(
          LEAST_WIDTH,
          Integer.parseInt(System.getenv().getOrDefault("COLUMNS", String.valueOf(USUAL_WIDTH))));
    } catch (NumberFormatException e) {
      return USUAL_WIDTH;
    }
  }

  /** All verdicts, and how many held. */
  static void summary(PrintWriter out, List<Verdict> verdicts, Duration took, String what) {
    long held = verdicts.stream().filter(Verdict::held).count();
    out.println();
    verdicts.forEach(out::println);
    out.printf(
        "%d of %d expectations held, %d s (%s)%n", held, verdicts.size(), took.toSeconds(), what);
    out.flush();
  }
}
