package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

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
 * @param errors failures and refusals with how many there were
 */
record ReviewFigures(
    int sent,
    double perSecond,
    double median,
    double p99,
    double max,
    double p99Late,
    Map<String, Integer> errors) {

  /** Copies the map. */
  ReviewFigures {
    errors = Map.copyOf(errors);
  }

  /**
   * Computes the figures.
   *
   * @param nanos time of each review, in any order
   * @param late delay of sending of each review, in any order
   * @param seconds how long the load lasted
   */
  static ReviewFigures of(long[] nanos, long[] late, double seconds, Map<String, Integer> errors) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    long[] delays = late.clone();
    Arrays.sort(delays);
    return new ReviewFigures(
        sorted.length,
        seconds == 0 ? 0 : sorted.length / seconds,
        millis(sorted, 0.5),
        millis(sorted, 0.99),
        millis(sorted, 1),
        millis(delays, 0.99),
        errors);
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
  }

  private static void put(ObjectNode json, String field, double value) {
    json.put(field, BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP));
  }
}
