package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Schedule.Creation;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * When each piece of work was created, admitted and finished, and what follows from that. Confined
 * to one thread while it is written.
 */
final class Timings {

  private static final long NEVER = -1;
  private static final double NANOS = 1e9;

  private final List<Creation> creations;
  private final long[] created;
  private final long[] admitted;
  private final long[] finished;
  private final long[] held;
  private int creationsSent;
  private int admissions;
  private int finishes;
  private long mostLate;

  /**
   * Seconds from creation to the first admission, of one class.
   *
   * @param count how many were admitted
   */
  record Waits(int count, double mean, double median, double p99, double max) {}

  Timings(List<Creation> creations) {
    this.creations = creations;
    this.created = filled();
    this.admitted = filled();
    this.finished = filled();
    this.held = new long[creations.size()];
  }

  private long[] filled() {
    long[] times = new long[creations.size()];
    Arrays.fill(times, NEVER);
    return times;
  }

  /** It was sent to the API server, so many nanoseconds after the start. */
  void created(int ordinal, long nanos) {
    if (created[ordinal] == NEVER) {
      creationsSent++;
    }
    created[ordinal] = nanos;
    mostLate = Math.max(mostLate, nanos - creations.get(ordinal).atMillis() * 1_000_000);
  }

  /** It was seen to be admitted for the first time. */
  void admitted(int ordinal, long nanos) {
    if (admitted[ordinal] == NEVER) {
      admitted[ordinal] = nanos;
      admissions++;
    }
  }

  /** It held its quota for so long. */
  void held(int ordinal, long nanos) {
    held[ordinal] += nanos;
  }

  /** It ended. */
  void finished(int ordinal, long nanos) {
    if (finished[ordinal] == NEVER) {
      finished[ordinal] = nanos;
      finishes++;
    }
  }

  /** How many were created. */
  int creations() {
    return creationsSent;
  }

  /** How many were admitted. */
  int admissions() {
    return admissions;
  }

  /** How many ended. */
  int finishes() {
    return finishes;
  }

  /** Whether all ended. */
  boolean complete() {
    return finishes == creations.size();
  }

  /** Seconds from the first creation to the last end. */
  double wallSeconds() {
    long first = Arrays.stream(created).filter(time -> time != NEVER).min().orElse(0);
    long last = Arrays.stream(finished).max().orElse(0);
    return Math.max(0, last - first) / NANOS;
  }

  /** How far creations fell behind their schedule, at most, in seconds. */
  double mostLateSeconds() {
    return mostLate / NANOS;
  }

  /** CPU-seconds held, of those that the nominal quota offered during {@link #wallSeconds}. */
  double quotaUse(long nominalCpu) {
    double cpuSeconds = 0;
    for (Creation each : creations) {
      cpuSeconds += held[each.ordinal()] / NANOS * each.workClass().cpu();
    }
    double offered = nominalCpu * wallSeconds();
    return offered == 0 ? 0 : cpuSeconds / offered;
  }

  /** How long they waited, by the name of their class. */
  Map<String, Waits> waits() {
    Map<String, Waits> waits = new LinkedHashMap<>();
    creations.stream()
        .map(each -> each.workClass().name())
        .distinct()
        .forEach(name -> waits.put(name, waits(name)));
    return waits;
  }

  private Waits waits(String name) {
    double[] sorted =
        creations.stream()
            .filter(each -> each.workClass().name().equals(name))
            .mapToInt(Creation::ordinal)
            .filter(ordinal -> admitted[ordinal] != NEVER)
            .mapToDouble(ordinal -> (admitted[ordinal] - created[ordinal]) / NANOS)
            .sorted()
            .toArray();
    return new Waits(
        sorted.length,
        Arrays.stream(sorted).average().orElse(0),
        quantile(sorted, 0.5),
        quantile(sorted, 0.99),
        quantile(sorted, 1));
  }

  /** The smallest value that so much of them don't exceed. */
  private static double quantile(double[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }
}
