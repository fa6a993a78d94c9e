package dev.sluice.lab.demo;

import java.io.Console;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** Selects the screen of a scenario and prints the summary. */
final class Screens {

  private static final int LEAST_WIDTH = 60;
  private static final int USUAL_WIDTH = 120;

  private Screens() {}

  /** A table on a terminal, lines elsewhere. */
  static Screen open(
      PrintWriter out,
      Dashboard dashboard,
      List<? extends Expectation> expectations,
      InstantSource clock) {
    Console console = System.console();
    return console != null && console.isTerminal()
        ? new LiveScreen(out, dashboard, expectations, clock, width())
        : new PlainScreen(out, dashboard, clock);
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

  /** Prints all results and how many expectations were met. */
  static void summary(
      PrintWriter out, List<ExpectationResult> expectationResults, Duration took, String what) {
    long held = expectationResults.stream().filter(ExpectationResult::held).count();
    out.println();
    expectationResults.forEach(out::println);
    out.printf(
        "%d of %d expectations held, %d s (%s)%n",
        held, expectationResults.size(), took.toSeconds(), what);
    out.flush();
  }
}
