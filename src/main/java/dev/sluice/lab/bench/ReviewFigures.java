package dev.sluice.lab.bench;

import static java.util.stream.Collectors.toList;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * How fast webhooks answered. Times are milliseconds from the planned moment of sending to the
 * answer, so that a review which was sent late, or waited behind another one, isn't forgotten.
 *
 * @param sent reviews whose answer, or failure, was seen
 * @param perSecond reviews per second over the time of the load
 * @param median median of the time
 * @param p99 99 % of reviews took at most this long
 * @param max the longest time
 * @param p99Late 99 % of reviews were sent at most this much later than planned, which is the
 *     sender's own delay
 * @param byTenSeconds the time that 99 % of the reviews took, for each ten seconds in which they
 *     were planned: whether the slow ones are those of a process that has just started
 * @param errors failures and refusals with how many there were
 */
record ReviewFigures(
    int sent,
    double perSecond,
    double median,
    double p99,
    double max,
    double p99Late,
    List<Double> byTenSeconds,
    Map<String, Integer> errors) {

  private static final long WINDOW = TimeUnit.SECONDS.toNanos(10);

  /**
   * One review.
   *
   * @param planned when it should be sent, nanoseconds after the start of the load
   * @param late by how many nanoseconds later it was sent
   * @param taken nanoseconds from its planned moment to the answer
   */
  record Sample(long planned, long late, long taken) {}

  /** Copies what it is given. */
  ReviewFigures {
    byTenSeconds = List.copyOf(byTenSeconds);
    errors = Map.copyOf(errors);
  }

  /**
   * Computes the figures.
   *
   * @param samples all reviews, in any order
   * @param seconds how long the load lasted
   */
  static ReviewFigures of(List<Sample> samples, double seconds, Map<String, Integer> errors) {
    long[] taken = samples.stream().mapToLong(Sample::taken).sorted().toArray();
    long[] late = samples.stream().mapToLong(Sample::late).sorted().toArray();
    return new ReviewFigures(
        samples.size(),
        seconds == 0 ? 0 : samples.size() / seconds,
        millis(taken, 0.5),
        millis(taken, 0.99),
        millis(taken, 1),
        millis(late, 0.99),
        byTenSeconds(samples),
        errors);
  }

  private static List<Double> byTenSeconds(List<Sample> samples) {
    return samples.stream()
        .collect(Collectors.groupingBy(each -> each.planned() / WINDOW, TreeMap::new, toList()))
        .values()
        .stream()
        .map(each -> millis(each.stream().mapToLong(Sample::taken).sorted().toArray(), 0.99))
        .toList();
  }

  /** The smallest value that at least this share of the values does not exceed. */
  private static double millis(long[] sorted, double share) {
    return sorted.length == 0
        ? 0
        : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)] / 1e6;
  }

  /** How many reviews failed or were refused. */
  int failed() {
    return errors.values().stream().mapToInt(Integer::intValue).sum();
  }

  /**
   * Two lines, or more if there were errors.
   *
   * @param name what was sent to
   */
  String text(String name) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT, "%-36s%d reviews, %.1f /s, %d errors%n", name, sent, perSecond, failed()));
    text.append(
        String.format(
            Locale.ROOT,
            "%-36smedian %.2f ms, p99 %.2f ms, max %.1f ms; p99 of the sender's delay %.2f ms%n",
            "time to the answer",
            median,
            p99,
            max,
            p99Late));
    text.append(
        String.format(
            Locale.ROOT,
            "%-36s%s%n",
            "p99 of each ten seconds, ms",
            byTenSeconds.stream()
                .map(each -> String.format(Locale.ROOT, "%.0f", each))
                .collect(Collectors.joining(" "))));
    new TreeMap<>(errors)
        .forEach(
            (message, count) ->
                text.append(String.format(Locale.ROOT, "  %d times: %s%n", count, message)));
    return text.toString();
  }

  /** Writes the same into a JSON object. */
  void into(ObjectNode json) {
    json.put("reviews", sent).put("errors", failed());
    put(json, "perSecond", perSecond);
    put(json, "medianMillis", median);
    put(json, "p99Millis", p99);
    put(json, "maxMillis", max);
    put(json, "senderDelayP99Millis", p99Late);
    ArrayNode windows = json.putArray("p99MillisByTenSeconds");
    byTenSeconds.forEach(each -> windows.add(rounded(each)));
  }

  private static void put(ObjectNode json, String field, double value) {
    json.put(field, rounded(value));
  }

  private static BigDecimal rounded(double value) {
    return BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP);
  }
}
