package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import io.prometheus.metrics.core.metrics.Histogram;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/**
 * How good expected starts were, and what simulations answered; silent until a Workload starts of
 * which one was told, and until somebody asks.
 */
public final class StartMetrics {

  private static final Family COVERAGE =
      Family.of(
          "sluice_start_estimate_coverage",
          "Share of the last 200 starts that were in the range that was told first");

  private static final int REMEMBERED = 200;

  private final Supplier<ReplicaRole> role;
  private final Histogram error;
  private final Histogram answers;

  /** Whether each of the last starts was in its range; guarded by itself. */
  private final Deque<Boolean> inRange = new ArrayDeque<>();

  /**
   * Registers the metrics {@code sluice_start_estimate_error_seconds}, {@code
   * sluice_start_estimate_coverage} and {@code sluice_simulation_duration_seconds}.
   */
  public StartMetrics(MetricsScrape metrics, Supplier<ReplicaRole> role) {
    this.role = role;
    error =
        new MetricFamilies(metrics.registry())
            .histogram(
                "sluice_start_estimate_error_seconds",
                "How far starts were from the time that was expected when it was told first",
                MetricFamilies.waits(14),
                "basis");
    answers =
        new MetricFamilies(metrics.registry())
            .histogram(
                "sluice_simulation_duration_seconds",
                "How long those waited who asked whether a job would run, by the answer",
                MetricFamilies.waits(14),
                "answer");
    metrics.include(
        () -> {
          GaugeSet gauges = new GaugeSet(role.get());
          coverage().ifPresent(share -> gauges.set(COVERAGE, share));
          return gauges.snapshots();
        });
  }

  private OptionalDouble coverage() {
    synchronized (inRange) {
      return inRange.stream().mapToDouble(inside -> inside ? 1 : 0).average();
    }
  }

  /**
   * A Workload has started of which a range was told.
   *
   * @param basis where the range came from
   * @param difference between the expected start and the start, in either direction
   * @param inside whether it started in the range
   */
  public void started(String basis, Duration difference, boolean inside) {
    error
        .labelValues(MetricFamilies.values(role.get(), basis))
        .observe(SchedulerMetrics.seconds(difference.abs()));
    synchronized (inRange) {
      inRange.addLast(inside);
      if (inRange.size() > REMEMBERED) {
        inRange.removeFirst();
      }
    }
  }

  /**
   * Somebody asked whether a job would run.
   *
   * @param answer a feasibility, {@code NotQueued} or {@code Busy}
   * @param took how long it took to tell
   */
  public void answered(String answer, Duration took) {
    answers
        .labelValues(MetricFamilies.values(role.get(), answer))
        .observe(SchedulerMetrics.seconds(took));
  }
}
