package dev.sluice.lab.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** How long starts and changes of the leader took. */
final class StartFigures {

  private record Row(
      String what, Optional<Duration> ready, Optional<Duration> cpu, Optional<Duration> decision) {}

  private final List<Row> rows = new ArrayList<>();

  /**
   * Adds a start of a process.
   *
   * @param ready from its start until it said that it was ready
   * @param cpu its processor time until then
   * @param decision from its start until the first admission was seen; empty if nothing was pending
   */
  void start(String what, Duration ready, Duration cpu, Optional<Duration> decision) {
    rows.add(new Row(what, Optional.of(ready), Optional.of(cpu), decision));
  }

  /**
   * Adds a change of the leader.
   *
   * @param decision from the end of the old leader's process until the new one's first admission
   *     was seen
   */
  void change(String what, Duration decision) {
    rows.add(new Row(what, Optional.empty(), Optional.empty(), Optional.of(decision)));
  }

  /** A table that ends with a line break. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append(line("", "ready", "its CPU until then", "first decision"));
    rows.forEach(row -> text.append(line(row)));
    return text.toString();
  }

  /** The line of the table that was added last, without a line break. */
  String last() {
    return line(rows.getLast()).stripTrailing();
  }

  private static String line(Row row) {
    return line(row.what(), seconds(row.ready()), seconds(row.cpu()), seconds(row.decision()));
  }

  private static String line(String what, String ready, String cpu, String decision) {
    return String.format(Locale.ROOT, "%-48s%12s%20s%16s%n", what, ready, cpu, decision);
  }

  private static String seconds(Optional<Duration> duration) {
    return duration
        .map(each -> String.format(Locale.ROOT, "%.2f s", each.toMillis() / 1000.0))
        .orElse("");
  }
}
