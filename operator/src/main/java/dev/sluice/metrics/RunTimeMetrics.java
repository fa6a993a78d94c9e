package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Counts the runs whose times were recorded, and the groups that they are remembered in. */
public final class RunTimeMetrics {

  private static final Family GROUPS =
      Family.of("sluice_run_time_groups", "Groups of similar runs whose run times are remembered");

  private final Supplier<ReplicaRole> role;
  private final Counter recorded;

  /**
   * Registers the metrics {@code sluice_run_times_recorded_total} and {@code
   * sluice_run_time_groups}.
   *
   * @param groups the number of groups
   */
  public RunTimeMetrics(MetricsScrape metrics, Supplier<ReplicaRole> role, IntSupplier groups) {
    this.role = role;
    recorded =
        new MetricFamilies(metrics.registry())
            .counter(
                "sluice_run_times_recorded_total",
                "Runs of workloads that ended and whose run time was recorded, by how they ended",
                "end");
    metrics.include(
        () -> {
          GaugeSet gauges = new GaugeSet(role.get());
          gauges.set(GROUPS, groups.getAsInt());
          return gauges.snapshots();
        });
  }

  /**
   * Counts a run.
   *
   * @param end how it ended: {@code succeeded}, {@code failed} or {@code evicted}
   */
  public void recorded(String end) {
    recorded.labelValues(MetricFamilies.values(role.get(), end)).inc();
  }
}
