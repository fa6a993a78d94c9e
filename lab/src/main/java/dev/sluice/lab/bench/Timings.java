package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Schedule.Creation;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Times at which each workload was created, admitted and finished, and statistics of them. Confined
 * to one thread while it is written.
 */
public final class Timings {

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
   * Seconds from creation to first admission, of one class.
   *
   * @param count number of admissions
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

  /** The workload was created this many nanoseconds after the start. */
  void created(int ordinal, long nanos) {
    if (created[ordinal] == NEVER) {
      creationsSent++;
    }
    created[ordinal] = nanos;
    mostLate = Math.max(mostLate, nanos - creations.get(ordinal).atMillis() * 1_000_000);
  }

  /** The workload was seen admitted for the first time. */
  void admitted(int ordinal, long nanos) {
    if (admitted[ordinal] == NEVER) {
      admitted[ordinal] = nanos;
      admissions++;
    }
  }

  /** The workload held its quota for this time. */
  void held(int ordinal, long nanos) {
    held[ordinal] += nanos;
  }

  /** The workload finished. */
  void finished(int ordinal, long nanos) {
    if (finished[ordinal] == NEVER) {
      finished[ordinal] = nanos;
      finishes++;
    }
  }

  /** The number of creations. */
  int creations() {
    return creationsSent;
  }

  /** The number of admissions. */
  int admissions() {
    return admissions;
  }

  /** The number of finished workloads. */
  int finishes() {
    return finishes;
  }

  /** Whether all workloads have finished. */
  boolean complete() {
    return finishes == creations.size();
  }

  /** Seconds from the first creation to the last end. */
  double wallSeconds() {
    long first = Arrays.stream(created).filter(time -> time != NEVER).min().orElse(0);
    long last = Arrays.stream(finished).max().orElse(0);
    return Math.max(0, last - first) / NANOS;
  }

  /** Maximum delay of a creation behind its schedule, in seconds. */
  double mostLateSeconds() {
    return mostLate / NANOS;
  }

  /**
   * CPU-seconds held, divided by those that the nominal quota provided during {@link #wallSeconds}.
   */
  double quotaUse(long nominalCpu) {
    double cpuSeconds = 0;
    for (Creation each : creations) {
      cpuSeconds += held[each.ordinal()] / NANOS * each.workClass().totalCpu();
    }
    double offered = nominalCpu * wallSeconds();
    return offered == 0 ? 0 : cpuSeconds / offered;
  }

  /** Waiting times by class. */
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

  /**
   * The smallest value that at least this share of the values does not exceed; 0 without any.
   *
   * @param sorted the values, the smallest first
   * @param share from 0 to 1
   */
  public static double quantile(double[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }
}
