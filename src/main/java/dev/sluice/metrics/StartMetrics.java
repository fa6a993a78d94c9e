package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import io.prometheus.metrics.core.metrics.Histogram;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/** How good expected starts were; silent until a Workload starts of which one was told. */
public final class StartMetrics {

  private static final Family COVERAGE =
      Family.of(
          "sluice_start_estimate_coverage",
          "Share of the last 200 starts that were in the range that was told first");

  private static final int REMEMBERED = 200;

  private final Supplier<ReplicaRole> role;
  private final Histogram error;

  /** Whether each of the last starts was in its range; guarded by itself. */
  private final Deque<Boolean> inRange = new ArrayDeque<>();

  /**
   * Registers the metrics {@code sluice_start_estimate_error_seconds} and {@code
   * sluice_start_estimate_coverage}.
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
}
