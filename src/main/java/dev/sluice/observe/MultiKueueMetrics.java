package dev.sluice.observe;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Map;
import java.util.function.Supplier;

/** Counts what goes to worker clusters. Its methods may be called from any thread. */
public final class MultiKueueMetrics {

  private static final Gauges.Family CONNECTED =
      Gauges.Family.of(
          "multikueue_cluster_connected",
          "1 while the worker cluster is connected, else 0; only of the replica that decides",
          "cluster");

  private final Supplier<ReplicaRole> role;
  private final Counter dispatched;
  private final Counter admitted;

  /**
   * Registers its metrics.
   *
   * @param connected the worker clusters by name, and whether each is connected now
   */
  public MultiKueueMetrics(
      PrometheusRegistry registry,
      Supplier<ReplicaRole> role,
      Supplier<Map<String, Boolean>> connected) {
    this.role = role;
    Families families = new Families(registry);
    dispatched =
        families.counter(
            "multikueue_workloads_dispatched_total",
            "Workloads created in worker clusters",
            "cluster_queue",
            "cluster");
    admitted =
        families.counter(
            "multikueue_workloads_admitted_total",
            "Admissions seen in worker clusters; each admission of a workload counts",
            "cluster_queue",
            "cluster");
    MultiCollector connections =
        () -> {
          Gauges gauges = new Gauges(role.get());
          connected.get().forEach((cluster, yes) -> gauges.set(CONNECTED, yes ? 1 : 0, cluster));
          return gauges.snapshots();
        };
    registry.register(connections);
  }

  /** A Workload of this ClusterQueue was created in this worker cluster. */
  public void dispatched(String clusterQueue, String cluster) {
    dispatched.labelValues(Families.values(role.get(), clusterQueue, cluster)).inc();
  }

  /** A Workload of this ClusterQueue was admitted in this worker cluster. */
  public void admitted(String clusterQueue, String cluster) {
    admitted.labelValues(Families.values(role.get(), clusterQueue, cluster)).inc();
  }
}
