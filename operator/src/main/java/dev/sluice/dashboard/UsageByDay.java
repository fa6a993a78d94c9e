package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * What the ledger tells of some days, as the page shows it: sums of all days in a table, and days
 * beside each other for the groups that used most. Not thread-safe.
 */
final class UsageByDay {

  /** The most groups of a resource that are plotted. */
  private static final int MOST_PLOTS = 12;

  private static final String COST = "cost";
  private static final String RESERVED = "reserved";
  private static final String RESOURCE = "resource";
  private static final List<String> AMOUNTS =
      List.of(RESERVED, "run", "waited", "lost", COST, "saved");

  private final Instant begin;
  private final int days;
  private final Map<Line, BigDecimal[]> sums = new LinkedHashMap<>();

  /** By resource, and by group. */
  private final Map<String, Map<String, double[]>> plots = new TreeMap<>();

  private record Line(String group, String flavor, String resource) {}

  /** Days in UTC from the begin of one on. */
  UsageByDay(Instant begin, int days) {
    this.begin = begin;
    this.days = days;
  }

  /** Adds a row of the ledger's document, with the name of its group. */
  void add(JsonNode row, String group) {
    Line line =
        new Line(
            PlansDocument.shown(JsonFields.text(row.path("by"), group)),
            PlansDocument.shown(JsonFields.text(row, "flavor")),
            PlansDocument.shown(JsonFields.text(row, RESOURCE)));
    BigDecimal[] sum = sums.computeIfAbsent(line, any -> zeros());
    for (int i = 0; i < sum.length; i++) {
      sum[i] = sum[i].add(number(row, AMOUNTS.get(i)));
    }
    OptionalInt day = day(JsonFields.text(row, "since"));
    if (day.isPresent()) {
      plot(line.resource(), line.group(), day.getAsInt(), number(row, RESERVED));
      plot(COST, line.group(), day.getAsInt(), number(row, COST));
    }
  }

  private static BigDecimal[] zeros() {
    BigDecimal[] zeros = new BigDecimal[AMOUNTS.size()];
    Arrays.fill(zeros, BigDecimal.ZERO);
    return zeros;
  }

  private void plot(String what, String group, int day, BigDecimal value) {
    if (value.signum() != 0) {
      plots.computeIfAbsent(what, any -> new TreeMap<>())
              .computeIfAbsent(group, any -> new double[days])[day] +=
          value.doubleValue();
    }
  }

  private OptionalInt day(String since) {
    try {
      long day = Math.floorDiv(Duration.between(begin, Instant.parse(since)).toSeconds(), 86_400);
      return day < 0 || day >= days ? OptionalInt.empty() : OptionalInt.of((int) day);
    } catch (DateTimeException | ArithmeticException e) {
      return OptionalInt.empty();
    }
  }

  private static BigDecimal number(JsonNode row, String field) {
    try {
      return new BigDecimal(PlansDocument.shown(JsonFields.text(row, field)));
    } catch (NumberFormatException e) {
      return BigDecimal.ZERO;
    }
  }

  /** Writes the rows in the order of groups, and the plots, those that used most first. */
  void write(ObjectNode document, int most) {
    ArrayNode rows = document.putArray("rows");
    sums.entrySet().stream()
        .sorted(
            Comparator.comparing((Entry<Line, BigDecimal[]> each) -> each.getKey().group())
                .thenComparing(each -> each.getKey().flavor())
                .thenComparing(each -> each.getKey().resource()))
        .limit(most)
        .forEach(
            each -> {
              ObjectNode item =
                  rows.addObject()
                      .put("group", each.getKey().group())
                      .put("flavor", each.getKey().flavor())
                      .put(RESOURCE, each.getKey().resource());
              for (int i = 0; i < AMOUNTS.size(); i++) {
                item.put(AMOUNTS.get(i), each.getValue()[i].toPlainString());
              }
            });
    document.put("more", Math.max(0, sums.size() - most));
    document.put("begin", begin.toString()).put("days", days);
    ArrayNode all = document.putArray("plots");
    plots.forEach(
        (what, groups) -> {
          ObjectNode plot = all.addObject().put("of", what);
          plot.put("others", Math.max(0, groups.size() - MOST_PLOTS));
          ArrayNode drawn = plot.putArray("groups");
          groups.entrySet().stream()
              .sorted(Comparator.comparing(each -> -Arrays.stream(each.getValue()).sum()))
              .limit(MOST_PLOTS)
              .forEach(
                  each -> {
                    ArrayNode values =
                        drawn.addObject().put("group", each.getKey()).putArray("values");
                    Arrays.stream(each.getValue()).forEach(values::add);
                  });
        });
  }
}
