package dev.sluice.lab.demo;

import dev.sluice.lab.demo.Screens.Dashboard.Row;
import dev.sluice.lab.demo.Screens.Dashboard.Section;
import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
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
import org.jspecify.annotations.Nullable;

/** Selects the screen of a scenario and prints the summary. */
final class Screens {

  private Screens() {}

  /** A table on a terminal, lines elsewhere. */
  static Screen open(
      PrintWriter out,
      Dashboard dashboard,
      List<? extends Expectation> expectations,
      InstantSource clock) {
    return TerminalSize.isTerminal()
        ? new LiveScreen(out, dashboard, expectations, clock)
        : new PlainScreen(out, dashboard, clock);
  }

  /** Prints what will be judged, before anything is started. */
  static void announce(PrintWriter out, List<? extends Expectation> expectations) {
    out.printf("to be judged: %d expectations%n", expectations.size());
    TerminalSize size = size();
    expectations.forEach(
        each ->
            size.wrapped("[ ] %d. %s".formatted(each.number(), each.text()), "       ")
                .forEach(out::println));
    out.println();
    out.flush();
  }

  /** Prints all results and how many expectations were met. */
  static void summary(
      PrintWriter out, List<ExpectationResult> expectationResults, Duration took, String what) {
    long held = expectationResults.stream().filter(ExpectationResult::held).count();
    out.println();
    paragraphs(out, expectationResults.stream().map(ExpectationResult::toString).toList());
    out.printf(
        "%d of %d expectations held, %d s (%s)%n",
        held, expectationResults.size(), took.toSeconds(), what);
    out.flush();
  }

  /** Prints texts, each from a line of its own, broken between words. */
  static void paragraphs(PrintWriter out, List<String> texts) {
    TerminalSize size = size();
    texts.forEach(text -> size.wrapped(text, "   ").forEach(out::println));
  }

  /** That of the terminal; elsewhere a line is as long as it likes. */
  private static TerminalSize size() {
    return TerminalSize.isTerminal()
        ? TerminalSize.now()
        : new TerminalSize(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  /** Prints, at the very end, what to do next. */
  static void nowTry(PrintWriter out) {
    out.print(
        """

        Now try:
          ./sluice try                  a dashboard to look at, queues to type into
          ./sluice demo kube-queue      a quota tree, over-selling, three policies
          ./sluice demo promises        a large job among small ones: starved, idle, promised
          ./sluice demo budget          two teams, prices, a budget, and the bill
          ./sluice demo kinds           a job of each kind through one pool
          ./sluice demo multi-cluster   a manager, two workers, and an outage
          docs/tasks/README.md          what to write for queues of your own
        """);
    out.flush();
  }

  /** A table that is redrawn in place on a terminal. */
  private static final class LiveScreen implements Screen {

    private static final long REFRESH_MILLIS = 200;
    private static final int SIZED = 10;
    private static final String UP_AND_CLEAR = "\033[%dA\033[J";
    private static final ScreenLayout.Styles STYLES =
        new ScreenLayout.Styles("\033[1m%s\033[0m", "\033[32m%s\033[0m", "\033[31m%s\033[0m");

    private final PrintWriter out;
    private final Dashboard dashboard;
    private final List<? extends Expectation> expectations;
    private final InstantSource clock;
    private final Instant begin;
    private final Map<Expectation, ExpectationResult> expectationResults = new HashMap<>();
    private final ScheduledExecutorService refresh = Executors.newSingleThreadScheduledExecutor();
    private String saying = "";
    private String awaited = "";
    private Instant since;
    private TerminalSize size = TerminalSize.now();
    private int drawn;
    private int times;

    LiveScreen(
        PrintWriter out,
        Dashboard dashboard,
        List<? extends Expectation> expectations,
        InstantSource clock) {
      this.out = out;
      this.dashboard = dashboard;
      this.expectations = expectations;
      this.clock = clock;
      this.begin = clock.instant();
      this.since = begin;
      refresh.scheduleWithFixedDelay(this::draw, 0, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public synchronized void say(String line) {
      saying = line;
    }

    @Override
    public synchronized void waits(String what) {
      awaited = what;
      since = clock.instant();
    }

    @Override
    public synchronized void judged(ExpectationResult expectationResult) {
      expectationResults.put(expectationResult.expectation(), expectationResult);
    }

    private synchronized void draw() {
      times++;
      if (times % SIZED == 0) {
        size = TerminalSize.now();
      }
      Instant now = clock.instant();
      List<String> lines =
          new ScreenLayout(size, STYLES)
              .lines(
                  new ScreenLayout.Shown(
                      "%3d s  %s".formatted(Duration.between(begin, now).toSeconds(), saying),
                      awaited.isEmpty()
                          ? ""
                          : "       waits for %s, %d s"
                              .formatted(awaited, Duration.between(since, now).toSeconds()),
                      expectations,
                      expectationResults,
                      dashboard.sections(),
                      dashboard.events()));
      if (drawn > 0) {
        out.printf(UP_AND_CLEAR, drawn);
      }
      lines.forEach(out::println);
      out.flush();
      drawn = lines.size();
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
    private static final long FIRST_WORD = 2;
    private static final long PAUSE = 10;

    private final PrintWriter out;
    private final Dashboard dashboard;
    private final InstantSource clock;
    private final Instant begin;
    private final Set<String> shown = new HashSet<>();
    private final ScheduledExecutorService refresh = Executors.newSingleThreadScheduledExecutor();
    private int eventsShown;
    private String awaited = "";
    private Instant since;
    private long toldSeconds;

    PlainScreen(PrintWriter out, Dashboard dashboard, InstantSource clock) {
      this.out = out;
      this.dashboard = dashboard;
      this.clock = clock;
      this.begin = clock.instant();
      this.since = begin;
      refresh.scheduleWithFixedDelay(
          this::refresh, REFRESH_MILLIS, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void say(String line) {
      line("story", line);
    }

    @Override
    public synchronized void waits(String what) {
      awaited = what;
      since = clock.instant();
      toldSeconds = 0;
    }

    @Override
    public void judged(ExpectationResult expectationResult) {
      line("expect", expectationResult.toString());
    }

    private synchronized void refresh() {
      long seconds = Duration.between(since, clock.instant()).toSeconds();
      if (!awaited.isEmpty() && seconds >= (toldSeconds == 0 ? FIRST_WORD : toldSeconds + PAUSE)) {
        toldSeconds = seconds;
        line("wait", "for %s, %d s".formatted(awaited, seconds));
      }
      for (Dashboard.Section section : dashboard.sections()) {
        section.rows().forEach(row -> once(section.tag(), row));
      }
      List<String> told = dashboard.events();
      for (; eventsShown < told.size(); eventsShown++) {
        line("event", told.get(eventsShown));
      }
    }

    private void once(String what, Dashboard.Row row) {
      if (shown.add(row.key())) {
        line(what, row.text());
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

  /**
   * Fits what a demo shows into a terminal: first the step and what it waits for, then all
   * expectations, then the sections of the dashboard, then the latest events. What has ended is
   * counted in one line, and so is what there is no room for.
   */
  record ScreenLayout(TerminalSize size, Styles styles) {

    private static final int MOST_EVENTS = 6;
    private static final int LEAST_EVENTS = 1;

    /** How headings and judged expectations are written: formats with one %s. */
    record Styles(String heading, String held, String failed) {

      /** Nothing but text. */
      static final Styles PLAIN = new Styles("%s", "%s", "%s");
    }

    /**
     * What is shown.
     *
     * @param step how long the demo has run, and what it does
     * @param waits for what it waits and for how long; empty if for nothing
     */
    record Shown(
        String step,
        String waits,
        List<? extends Expectation> expectations,
        Map<Expectation, ExpectationResult> judged,
        List<Section> sections,
        List<String> events) {}

    /** Lines none of which is as wide as the terminal, and fewer than its rows. */
    List<String> lines(Shown shown) {
      List<String> lines = new ArrayList<>();
      lines.add(heading(shown.step()));
      lines.add(cut(shown.waits()));
      for (Expectation expectation : shown.expectations()) {
        lines.add(expectation(expectation, shown.judged().get(expectation)));
      }
      int room = size.rows() - 1 - lines.size();
      int events = Math.min(MOST_EVENTS, shown.events().size());
      int wanted = shown.sections().stream().mapToInt(it -> 1 + rows(it).size()).sum();
      while (events > LEAST_EVENTS && room < wanted + 1 + events) {
        events--;
      }
      int left = room - (events == 0 ? 0 : 1 + events);
      for (int i = 0; i < shown.sections().size(); i++) {
        // The last section gives way: it is the one that grows.
        int reserved = 3 * (shown.sections().size() - 1 - i);
        left -= add(lines, shown.sections().get(i), left - reserved);
      }
      if (events > 0) {
        lines.add(heading("EVENTS"));
        shown
            .events()
            .subList(shown.events().size() - events, shown.events().size())
            .forEach(line -> lines.add(cut("  " + line)));
      }
      return lines.subList(0, Math.min(lines.size(), size.rows() - 1));
    }

    /** Adds as much of a section as there is room for; returns the number of lines. */
    private int add(List<String> lines, Section section, int room) {
      List<String> rows = rows(section);
      if (room < 2 || rows.isEmpty()) {
        return 0;
      }
      lines.add(heading(section.title()));
      if (rows.size() < room) {
        rows.forEach(row -> lines.add(cut("  " + row)));
        return 1 + rows.size();
      }
      rows.subList(0, room - 2).forEach(row -> lines.add(cut("  " + row)));
      long more = section.rows().stream().filter(row -> !row.done()).count() - (room - 2);
      long done = section.rows().stream().filter(Row::done).count();
      lines.add(cut("  and %d more%s".formatted(more, done == 0 ? "" : "; " + done + " finished")));
      return room;
    }

    private static List<String> rows(Section section) {
      List<String> rows = new ArrayList<>();
      section.rows().stream().filter(row -> !row.done()).forEach(row -> rows.add(row.text()));
      long done = section.rows().size() - rows.size();
      if (done > 0) {
        rows.add(done + " finished");
      }
      return rows;
    }

    private String expectation(Expectation expectation, @Nullable ExpectationResult result) {
      String mark = result == null ? "[ ]" : result.held() ? "[x]" : "[!]";
      String line = cut("%s %d. %s".formatted(mark, expectation.number(), expectation.text()));
      return result == null
          ? line
          : (result.held() ? styles.held() : styles.failed()).formatted(line);
    }

    private String heading(String text) {
      return styles.heading().formatted(cut(text));
    }

    /** The text without line breaks, and with three dots where it is too long. */
    private String cut(String text) {
      String line = text.replaceAll("\\p{Cntrl}", " ");
      return line.length() < size.columns() ? line : line.substring(0, size.columns() - 4) + "...";
    }
  }

  /** Shows a running scenario. */
  interface Screen extends ProgressListener, AutoCloseable {

    /** Shows the last state and stops updating. */
    @Override
    void close();
  }

  /** Content of a screen as lines of text; read periodically, from any thread. */
  interface Dashboard {

    /**
     * A row of a section.
     *
     * @param key changes when the row says something that is told where there is no table
     * @param done whether nothing happens to it any more, so that a table only counts it
     */
    record Row(String key, String text, boolean done) {

      /** A row that is told each time it changes. */
      static Row of(String text) {
        return new Row(text, text, false);
      }
    }

    /**
     * A section of the screen.
     *
     * @param title heading in a table
     * @param tag prefix of each row where there is no table
     * @param rows the present state, what matters most first
     */
    record Section(String title, String tag, List<Row> rows) {

      /** Copies the rows. */
      public Section {
        rows = List.copyOf(rows);
      }
    }

    /** The present state. */
    List<Section> sections();

    /** All events so far, in order. */
    List<String> events();
  }

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

    /**
     * The size that the terminal of this process has now; the usual one where it doesn't say so.
     */
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
}
