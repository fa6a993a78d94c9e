package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.Supplier;

/** Counts pods that ran beyond the admission of their Workload. Thread-safe. */
public final class PodAccountingMetrics {

  private final Supplier<ReplicaRole> role;
  private final Counter beyond;

  /** Registers the metric {@code sluice_pods_beyond_admission_total}. */
  public PodAccountingMetrics(PrometheusRegistry registry, Supplier<ReplicaRole> role) {
    this.role = role;
    this.beyond =
        new MetricFamilies(registry)
            .counter(
                "sluice_pods_beyond_admission_total",
                "Pods that ran beyond what their workload was admitted with, when it was evicted or they were stopped",
                "cluster_queue");
  }

  /** So many pods ran beyond the admission by this ClusterQueue; empty without an admission. */
  public void beyond(String clusterQueue, int pods) {
    beyond.labelValues(MetricFamilies.values(role.get(), clusterQueue)).inc(pods);
  }
}
