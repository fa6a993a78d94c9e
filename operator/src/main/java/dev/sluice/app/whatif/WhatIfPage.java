package dev.sluice.app.whatif;

import dev.sluice.app.whatif.WhatIfComparison.ResultTable;
import dev.sluice.forecast.whatif.PlayOutcome;
import dev.sluice.forecast.whatif.PlayOutcome.Course;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One page of HTML that needs nothing else: no script, no network, no other file. It is light or
 * dark as the reader's system is.
 */
final class WhatIfPage {

  /** The most ClusterQueues that get plots of their own; tables have all. */
  private static final int QUEUES = 40;

  private static final int WIDTH = 640;
  private static final int HEIGHT = 200;
  private static final int LEFT = 56;
  private static final int RIGHT = 12;
  private static final int TOP = 26;
  private static final int BOTTOM = 34;

  private static final String STYLE =
      """
      :root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --rule: #d1d9e0; --before: #6e7781; --after: #0969da; }
      @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --rule: #30363d; --before: #9198a1; --after: #4493f8; } }
      body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
      table { border-collapse: collapse; margin: .5rem 0 1.5rem; } th, td { border-bottom: 1px solid var(--rule); padding: .2rem .8rem .2rem 0; text-align: left; white-space: nowrap; }
      .wide { overflow-x: auto; } .plots { display: flex; flex-wrap: wrap; gap: 1rem; }
      svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
      .grid { stroke: var(--rule); } .before, .after { fill: none; stroke-width: 1.6; }
      .before { stroke: var(--before); stroke-dasharray: 5 3; } .after { stroke: var(--after); }
      """;

  private final WhatIfComparison comparison;
  private final StringBuilder html = new StringBuilder();

  WhatIfPage(WhatIfComparison comparison) {
    this.comparison = comparison;
  }

  /** The page. */
  String html() {
    html.setLength(0);
    PlayOutcome before = comparison.before();
    html.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        .append("<title>Sluice: what if</title><style>\n")
        .append(STYLE)
        .append("</style></head><body>\n<h1>What if</h1>\n");
    paragraph("From " + before.begin() + " to " + before.end() + ".");
    paragraph(
        "Changed: "
            + (comparison.changes().isEmpty() ? "nothing" : String.join(", ", comparison.changes()))
            + ".");
    comparison.remarks().forEach(this::paragraph);
    paragraph("In plots the dashed line is before the change, the other one after it.");
    html.append("<div class=\"plots\">\n");
    plots();
    html.append("</div>\n");
    comparison.tables().forEach(this::table);
    return html.append("</body></html>\n").toString();
  }

  private void paragraph(String text) {
    html.append("<p>").append(escaped(text)).append("</p>\n");
  }

  private void table(ResultTable table) {
    html.append("<h2>").append(escaped(table.title())).append("</h2>\n");
    if (table.rows().isEmpty()) {
      paragraph("None.");
      return;
    }
    html.append("<div class=\"wide\"><table><thead>");
    row("th", table.head());
    html.append("</thead><tbody>\n");
    table.rows().forEach(row -> row("td", row));
    html.append("</tbody></table></div>\n");
  }

  private void row(String cell, List<String> texts) {
    html.append("<tr>");
    for (String text : texts) {
      html.append('<').append(cell).append('>').append(escaped(text));
      html.append("</").append(cell).append('>');
    }
    html.append("</tr>\n");
  }

  private void plots() {
    PlayOutcome before = comparison.before();
    PlayOutcome after = comparison.after();
    plot(
        "Waits: so many of 100 Workloads waited so many minutes at most",
        List.of("0", "50", "100"),
        minutes(before.waits().getFirst().percentileSeconds()),
        minutes(after.waits().getFirst().percentileSeconds()));
    Set<String> queues = new TreeSet<>(before.courses().keySet());
    queues.addAll(after.courses().keySet());
    double hours = Duration.between(before.begin(), before.end()).toMillis() / 3_600_000.0;
    List<String> times = List.of("0 h", hours(hours / 2), hours(hours));
    for (String queue : queues.stream().limit(QUEUES).toList()) {
      Course one = before.courses().get(queue);
      Course other = after.courses().get(queue);
      plot(queue + ": Workloads that wait", times, waiting(one), waiting(other));
      Set<String> resources = new TreeSet<>();
      for (Course course : courses(one, other)) {
        resources.addAll(course.used().keySet());
      }
      for (String resource : resources) {
        plot(
            queue + ": " + resource + " in use", times, used(one, resource), used(other, resource));
      }
    }
  }

  private static List<Course> courses(@Nullable Course one, @Nullable Course other) {
    List<Course> courses = new ArrayList<>();
    if (one != null) {
      courses.add(one);
    }
    if (other != null) {
      courses.add(other);
    }
    return courses;
  }

  private static List<Double> waiting(@Nullable Course course) {
    return course == null ? List.of() : course.waiting();
  }

  private static List<Double> used(@Nullable Course course, String resource) {
    return course == null ? List.of() : course.used().getOrDefault(resource, List.of());
  }

  private static List<Double> minutes(List<Double> seconds) {
    return seconds.stream().map(each -> each / 60).toList();
  }

  private static String hours(double hours) {
    return String.format(Locale.ROOT, hours < 10 ? "%.1f h" : "%.0f h", hours);
  }

  /** Two lines over the same axis. */
  private void plot(String title, List<String> ticks, List<Double> before, List<Double> after) {
    double top =
        Math.max(
            before.stream().max(Double::compare).orElse(0.0),
            after.stream().max(Double::compare).orElse(0.0));
    top = top <= 0 ? 1 : top;
    add(
        "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    add("<title>%s</title>", escaped(title));
    text(LEFT, 15, "start", title);
    for (int i = 0; i <= 2; i++) {
      double y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * i / 2.0;
      add(
          "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>",
          LEFT, y, WIDTH - RIGHT, y);
      text(LEFT - 6, y + 4, "end", number(top * i / 2));
      text(
          LEFT + (WIDTH - LEFT - RIGHT) * i / 2.0,
          HEIGHT - BOTTOM + 18,
          List.of("start", "middle", "end").get(i),
          ticks.get(i));
    }
    line("before", before, top);
    line("after", after, top);
    html.append("</svg>\n");
  }

  private void line(String style, List<Double> values, double top) {
    StringBuilder points = new StringBuilder();
    for (int i = 0; i < values.size(); i++) {
      double x = LEFT + (WIDTH - LEFT - RIGHT) * (double) i / Math.max(1, values.size() - 1);
      double y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * values.get(i) / top;
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
    }
    add("<polyline class=\"%s\" points=\"%s\"/>", style, points.toString().strip());
  }

  private void text(double x, double y, String anchor, String text) {
    add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor, escaped(text));
  }

  private void add(String format, Object... values) {
    html.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private static String number(double value) {
    return value >= 1e9
        ? String.format(Locale.ROOT, "%.1fG", value / 1e9)
        : String.format(Locale.ROOT, value >= 100 ? "%,.0f" : "%.1f", value);
  }

  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      switch (each) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        default -> escaped.append(each);
      }
    }
    return escaped.toString();
  }
}
