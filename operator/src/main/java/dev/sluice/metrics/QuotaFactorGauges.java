package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import dev.sluice.metrics.MetricsScrape.GaugeSource;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.math.BigDecimal;
import java.util.Map;
import java.util.function.Supplier;

/** What the quota of ClusterQueues is multiplied by at present, where that depends on time. */
public final class QuotaFactorGauges implements GaugeSource {

  private static final Family FACTOR =
      Family.of(
          "sluice_cluster_queue_quota_factor",
          "What quota is multiplied by at this time of day",
          "cluster_queue");

  private final Supplier<Map<String, BigDecimal>> factors;
  private final Supplier<ReplicaRole> role;
  private final CustomLabels customLabels;

  /**
   * Creates the gauges.
   *
   * @param factors by ClusterQueue; those without a schedule are not among them
   */
  public QuotaFactorGauges(
      Supplier<Map<String, BigDecimal>> factors,
      Supplier<ReplicaRole> role,
      CustomLabels customLabels) {
    this.factors = factors;
    this.role = role;
    this.customLabels = customLabels;
  }

  @Override
  public MetricSnapshots collect() {
    GaugeSet gauges = new GaugeSet(role.get(), customLabels);
    factors.get().forEach((queue, factor) -> gauges.set(FACTOR, factor.doubleValue(), queue));
    return gauges.snapshots();
  }
}
