package dev.sluice.lab.demo;

import java.io.Console;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

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

  /** A table that is redrawn in place on a terminal. */
  private static final class LiveScreen implements Screen {

    private static final long REFRESH_MILLIS = 200;
    private static final int EVENTS = 6;
    private static final String UP_AND_CLEAR = "\033[%dA\033[J";
    private static final String BOLD = "\033[1m";
    private static final String GREEN = "\033[32m";
    private static final String RED = "\033[31m";
    private static final String PLAIN = "\033[0m";

    private final PrintWriter out;
    private final Dashboard dashboard;
    private final List<? extends Expectation> expectations;
    private final InstantSource clock;
    private final int width;
    private final Instant begin;
    private final Map<Expectation, ExpectationResult> expectationResults = new HashMap<>();
    private final ScheduledExecutorService refresh = Executors.newSingleThreadScheduledExecutor();
    private String saying = "";
    private int drawn;

    LiveScreen(
        PrintWriter out,
        Dashboard dashboard,
        List<? extends Expectation> expectations,
        InstantSource clock,
        int width) {
      this.out = out;
      this.dashboard = dashboard;
      this.expectations = expectations;
      this.clock = clock;
      this.width = width;
      this.begin = clock.instant();
      refresh.scheduleWithFixedDelay(this::draw, 0, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public synchronized void say(String line) {
      saying = line;
    }

    @Override
    public synchronized void judged(ExpectationResult expectationResult) {
      expectationResults.put(expectationResult.expectation(), expectationResult);
    }

    private synchronized void draw() {
      List<String> lines = lines();
      if (drawn > 0) {
        out.printf(UP_AND_CLEAR, drawn);
      }
      lines.forEach(out::println);
      out.flush();
      drawn = lines.size();
    }

    private List<String> lines() {
      List<String> lines = new ArrayList<>();
      long seconds = Duration.between(begin, clock.instant()).toSeconds();
      lines.add(heading("%3d s  %s".formatted(seconds, saying)));
      lines.add("");
      for (Dashboard.Section section : dashboard.sections()) {
        lines.add(heading(section.title()));
        section.lines().forEach(line -> lines.add(cut("  " + line)));
      }
      lines.add(heading("EVENTS"));
      List<String> events = dashboard.events();
      events
          .subList(Math.max(0, events.size() - EVENTS), events.size())
          .forEach(line -> lines.add(cut("  " + line)));
      lines.add(heading("EXPECTATIONS"));
      for (Expectation expectation : expectations) {
        lines.add(expectation(expectation));
      }
      return lines;
    }

    private String expectation(Expectation expectation) {
      String text = cut("  %d. %s".formatted(expectation.number(), expectation.text()));
      ExpectationResult expectationResult = expectationResults.get(expectation);
      if (expectationResult == null) {
        return text;
      }
      return (expectationResult.held() ? GREEN : RED) + text + PLAIN;
    }

    private String heading(String text) {
      return BOLD + cut(text) + PLAIN;
    }

    private String cut(String text) {
      return text.length() < width ? text : text.substring(0, width - 1);
    }

    @Override
    public void close() {
      refresh.shutdownNow();
      draw();
    }
  }

  /** Prints one line per event: for files, pipes and logs. */
  private static final class PlainScreen implements Screen {

    private static final long REFRESH_MILLIS = 250;

    private final PrintWriter out;
    private final Dashboard dashboard;
    private final InstantSource clock;
    private final Instant begin;
    private final Set<String> shown = new HashSet<>();
    private final ScheduledExecutorService refresh = Executors.newSingleThreadScheduledExecutor();
    private int eventsShown;

    PlainScreen(PrintWriter out, Dashboard dashboard, InstantSource clock) {
      this.out = out;
      this.dashboard = dashboard;
      this.clock = clock;
      this.begin = clock.instant();
      refresh.scheduleWithFixedDelay(
          this::refresh, REFRESH_MILLIS, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void say(String line) {
      line("story", line);
    }

    @Override
    public void judged(ExpectationResult expectationResult) {
      line("expect", expectationResult.toString());
    }

    private synchronized void refresh() {
      for (Dashboard.Section section : dashboard.sections()) {
        section.lines().forEach(line -> once(section.tag(), line));
      }
      List<String> told = dashboard.events();
      for (; eventsShown < told.size(); eventsShown++) {
        line("event", told.get(eventsShown));
      }
    }

    private void once(String what, String line) {
      if (shown.add(line)) {
        line(what, line);
      }
    }

    private synchronized void line(String what, String line) {
      long millis = Duration.between(begin, clock.instant()).toMillis();
      out.printf("%6.1f %-6s %s%n", millis / 1000.0, what, line);
      out.flush();
    }

    @Override
    public void close() {
      refresh.shutdownNow();
      refresh();
    }
  }
}
