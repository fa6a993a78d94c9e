package dev.sluice.lab.demo;

import dev.sluice.lab.demo.Dashboard.Row;
import dev.sluice.lab.demo.Dashboard.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
