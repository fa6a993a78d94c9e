package dev.sluice.app.whatif;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.forecast.whatif.PlayOutcome;
import dev.sluice.forecast.whatif.PlayOutcome.ResourceUse;
import dev.sluice.forecast.whatif.PlayOutcome.Waits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The same work before and after a change.
 *
 * @param changes what was changed, a few words each
 * @param remarks what isn't as it was, a sentence each
 */
record WhatIfComparison(
    PlayOutcome before, PlayOutcome after, List<String> changes, List<String> remarks) {

  WhatIfComparison {
    changes = List.copyOf(changes);
    remarks = List.copyOf(remarks);
  }

  /** A table: a head, and rows of as many cells. */
  record ResultTable(String title, List<String> head, List<List<String>> rows) {}

  /** The tables, for people. */
  List<ResultTable> tables() {
    return List.of(waits(), uses(), preemptions());
  }

  private ResultTable waits() {
    Set<List<Object>> keys = new LinkedHashSet<>();
    for (PlayOutcome each : List.of(before, after)) {
      each.waits().forEach(waits -> keys.add(key(waits)));
    }
    List<List<String>> rows = new ArrayList<>();
    for (List<Object> key : keys) {
      Function<PlayOutcome, Optional<Waits>> find =
          outcome -> first(outcome.waits(), waits -> key(waits).equals(key));
      rows.add(
          List.of(
              key.get(0).equals(PlayOutcome.ALL) ? "all" : key.get(0).toString(),
              key.get(1).toString(),
              both(find, waits -> "" + waits.started()),
              both(find, waits -> "" + waits.waiting()),
              both(find, waits -> duration(waits.medianSeconds())),
              both(find, waits -> duration(waits.ninetiethSeconds())),
              both(find, waits -> duration(waits.maxSeconds()))));
    }
    return new ResultTable(
        "Waits",
        List.of("queue", "priority", "started", "still waiting", "median", "90 %", "longest"),
        rows);
  }

  private static List<Object> key(Waits waits) {
    Long priority = waits.priority();
    return List.of(waits.clusterQueue(), priority == null ? "all" : priority.toString());
  }

  private ResultTable uses() {
    Set<List<String>> keys = new LinkedHashSet<>();
    for (PlayOutcome each : List.of(before, after)) {
      each.uses().forEach(use -> keys.add(List.of(use.clusterQueue(), use.resource())));
    }
    boolean priced =
        Stream.of(before, after)
            .flatMap(each -> each.uses().stream())
            .anyMatch(use -> use.cost() > 0);
    List<List<String>> rows = new ArrayList<>();
    for (List<String> key : keys) {
      Function<PlayOutcome, Optional<ResourceUse>> find =
          outcome ->
              first(
                  outcome.uses(),
                  use ->
                      use.clusterQueue().equals(key.get(0)) && use.resource().equals(key.get(1)));
      List<String> row =
          new ArrayList<>(
              List.of(
                  key.get(0),
                  key.get(1),
                  both(find, use -> amount(use.nominalMean())),
                  both(find, use -> amount(use.mean())),
                  both(find, use -> amount(use.borrowedMean())),
                  both(find, use -> String.format(Locale.ROOT, "%.0f %%", 100 * use.share())),
                  both(find, use -> amount(use.lostHours()))));
      if (priced) {
        row.add(both(find, use -> String.format(Locale.ROOT, "%,.2f", use.cost())));
      }
      rows.add(row);
    }
    List<String> head =
        new ArrayList<>(
            List.of(
                "queue", "resource", "quota", "used", "borrowed", "share", "lost, times hours"));
    if (priced) {
      head.add("cost");
    }
    return new ResultTable("Use on average", head, rows);
  }

  private ResultTable preemptions() {
    Set<List<String>> keys = new TreeSet<>(Comparator.comparing(List::toString));
    for (PlayOutcome each : List.of(before, after)) {
      each.preemptions()
          .forEach(
              (queue, byReason) ->
                  byReason.keySet().forEach(reason -> keys.add(List.of(queue, reason))));
    }
    List<List<String>> rows = new ArrayList<>();
    for (List<String> key : keys) {
      rows.add(
          List.of(
              key.get(0),
              key.get(1),
              both(
                  outcome ->
                      Optional.of(
                          outcome
                              .preemptions()
                              .getOrDefault(key.get(0), Map.of())
                              .getOrDefault(key.get(1), 0L)),
                  count -> "" + count)));
    }
    return new ResultTable("Preemptions", List.of("queue", "reason", "Workloads"), rows);
  }

  private static <T> Optional<T> first(List<T> all, Predicate<T> condition) {
    return all.stream().filter(condition).findFirst();
  }

  /** A value before and after, or one if both are the same; - where there is none. */
  private <T> String both(Function<PlayOutcome, Optional<T>> find, Function<T, String> show) {
    String one = find.apply(before).map(show).orElse("-");
    String other = find.apply(after).map(show).orElse("-");
    return one.equals(other) ? one : one + " → " + other;
  }

  /** Seconds in the two largest units. */
  static String duration(double seconds) {
    long whole = Math.round(seconds);
    if (whole < 60) {
      return whole + "s";
    }
    if (whole < 3_600) {
      return whole / 60 + "m" + whole % 60 + "s";
    }
    if (whole < 86_400) {
      return whole / 3_600 + "h" + whole % 3_600 / 60 + "m";
    }
    return whole / 86_400 + "d" + whole % 86_400 / 3_600 + "h";
  }

  private static String amount(double value) {
    if (value >= 1L << 30) {
      return String.format(Locale.ROOT, "%.1fGi", value / (1L << 30));
    }
    return String.format(Locale.ROOT, value >= 100 ? "%,.0f" : "%.2f", value);
  }

  /** The tables as lines of text. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("from " + before.begin() + " to " + before.end());
    lines.add("changed: " + (changes.isEmpty() ? "nothing" : String.join(", ", changes)));
    for (ResultTable table : tables()) {
      lines.add("");
      lines.add(table.title());
      if (table.rows().isEmpty()) {
        lines.add("  none");
        continue;
      }
      List<List<String>> all = new ArrayList<>(table.rows());
      all.addFirst(table.head());
      int[] widths = new int[table.head().size()];
      all.forEach(
          row -> {
            for (int i = 0; i < widths.length; i++) {
              widths[i] = Math.max(widths[i], row.get(i).length());
            }
          });
      for (List<String> row : all) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
          line.append("  ").append(row.get(i)).repeat(" ", widths[i] - row.get(i).length());
        }
        lines.add(line.toString().stripTrailing());
      }
    }
    if (!remarks.isEmpty()) {
      lines.add("");
      remarks.forEach(remark -> lines.add("note: " + remark));
    }
    return lines;
  }

  /** The figures as a document. */
  ObjectNode document() {
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    document.put("begin", before.begin().toString());
    document.put("end", before.end().toString());
    document.set("changes", JsonMappers.JSON.valueToTree(changes));
    document.set("remarks", JsonMappers.JSON.valueToTree(remarks));
    document.set("before", figures(before));
    document.set("after", figures(after));
    return document;
  }

  private static ObjectNode figures(PlayOutcome outcome) {
    ObjectNode figures = JsonMappers.JSON.createObjectNode();
    figures.set("waits", JsonMappers.JSON.valueToTree(outcome.waits()));
    figures.set("uses", JsonMappers.JSON.valueToTree(outcome.uses()));
    figures.set("preemptions", JsonMappers.JSON.valueToTree(outcome.preemptions()));
    return figures;
  }
}
