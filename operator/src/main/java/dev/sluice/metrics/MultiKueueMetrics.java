package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Metrics of MultiKueue. Thread-safe. */
public final class MultiKueueMetrics implements WorkloadListener {

  private static final GaugeSet.Family CONNECTED =
      GaugeSet.Family.of(
          "multikueue_cluster_connected",
          "1 while the worker cluster is connected, else 0; only of the replica that decides",
          "cluster");

  private static final GaugeSet.Family STATUS =
      GaugeSet.Family.of(
          "multikueue_cluster_status",
          "1 for whether a worker cluster of a ClusterQueue is connected; only of the replica that"
              + " decides",
          "cluster_queue",
          "cluster",
          "active");

  /** The position of the label {@code cluster_queue}. */
  private static final int QUEUE = 0;

  private static final int LATENCY_BOUNDS = 14;
  private static final double MILLIS = 1000;

  private final Supplier<ReplicaRole> role;
  private final Counter dispatched;
  private final Counter admitted;
  private final Counter requeued;
  private final Counter evicted;
  private final Counter fenced;
  private final Counter cutOff;
  private final Counter unreadable;
  private final Histogram latency;

  /**
   * Registers the metrics.
   *
   * @param connected the worker clusters by name, and whether each is connected now
   * @param clusters the worker clusters that each ClusterQueue uses
   */
  public MultiKueueMetrics(
      PrometheusRegistry registry,
      Supplier<ReplicaRole> role,
      Supplier<Map<String, Boolean>> connected,
      Supplier<Map<String, List<String>>> clusters) {
    this.role = role;
    MetricFamilies metricFamilies = new MetricFamilies(registry);
    dispatched =
        metricFamilies.counter(
            "multikueue_workloads_dispatched_total",
            "Workloads created in worker clusters",
            "cluster_queue",
            "cluster");
    admitted =
        metricFamilies.counter(
            "multikueue_workloads_admitted_total",
            "Admissions seen in worker clusters; each admission of a workload counts",
            "cluster_queue",
            "cluster");
    requeued =
        metricFamilies.counter(
            "multikueue_workloads_requeued_total",
            "Workloads taken back from worker clusters: lost, sent back or gone there",
            "cluster_queue",
            "cluster");
    evicted =
        metricFamilies.counter(
            "multikueue_workloads_evicted_total",
            "Evictions of workloads that ran in a worker cluster, by the reason here",
            "cluster_queue",
            "cluster",
            "reason");
    fenced =
        metricFamilies.counter(
            "multikueue_workloads_fenced_total",
            "Workloads switched off here because the manager that sent them was not heard of",
            "origin");
    cutOff =
        metricFamilies.counter(
            "multikueue_cluster_cut_offs_total",
            "How often a worker cluster was cut off because it sent more than is read from one",
            "cluster");
    unreadable =
        metricFamilies.counter(
            "multikueue_unreadable_objects_total",
            "Objects of worker clusters that could not be read; each attempt counts",
            "cluster");
    latency =
        metricFamilies.histogram(
            "multikueue_admission_latency_seconds",
            "From the creation of a workload to its admission in a worker cluster, for its first"
                + " and each later one",
            MetricFamilies.waits(LATENCY_BOUNDS),
            "cluster");
    MultiCollector connections =
        () -> {
          GaugeSet gaugeSet = new GaugeSet(role.get());
          Map<String, Boolean> now = connected.get();
          now.forEach((cluster, yes) -> gaugeSet.set(CONNECTED, yes ? 1 : 0, cluster));
          clusters.get().forEach((queue, workers) -> status(gaugeSet, queue, workers, now));
          return gaugeSet.snapshots();
        };
    registry.register(connections);
  }

  private static void status(
      GaugeSet gaugeSet, String queue, List<String> workers, Map<String, Boolean> connected) {
    for (String worker : workers) {
      Boolean known = connected.get(worker);
      String status = known == null ? "Unknown" : known ? "True" : "False";
      for (String each : List.of("True", "False", "Unknown")) {
        gaugeSet.set(STATUS, each.equals(status) ? 1 : 0, queue, worker, each);
      }
    }
  }

  /** A ClusterQueue was deleted: its series end. */
  public void clusterQueueRemoved(String name) {
    endSeries(name::equals);
  }

  /** Removes series of queues that don't exist: a late transition may have begun them again. */
  public void forgetRemoved(Predicate<String> exists) {
    endSeries(exists.negate());
  }

  private void endSeries(Predicate<String> ofQueue) {
    List.of(dispatched, admitted, requeued, evicted)
        .forEach(counter -> counter.removeIf(labels -> ofQueue.test(labels.get(QUEUE))));
  }

  /** A remote Workload of this ClusterQueue was created in this worker cluster. */
  public void dispatched(String clusterQueue, String cluster) {
    dispatched.labelValues(MetricFamilies.values(role.get(), clusterQueue, cluster)).inc();
  }

  /**
   * A remote Workload of this ClusterQueue was admitted in this worker cluster.
   *
   * @param after time since the Workload was queued
   */
  public void admitted(String clusterQueue, String cluster, Duration after) {
    admitted.labelValues(MetricFamilies.values(role.get(), clusterQueue, cluster)).inc();
    latency
        .labelValues(MetricFamilies.values(role.get(), cluster))
        .observe(Math.max(0, after.toMillis()) / MILLIS);
  }

  /** A Workload of this ClusterQueue was requeued from this worker cluster. */
  public void requeued(String clusterQueue, String cluster) {
    requeued.labelValues(MetricFamilies.values(role.get(), clusterQueue, cluster)).inc();
  }

  /** A Workload changed: evictions of those that ran in a worker cluster are counted. */
  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before == null || after == null || !role.get().decides()) {
      return;
    }
    String cluster = before.status().remotePlacement().cluster();
    if (!cluster.isEmpty() && WorkloadTransitions.turnedEvicted(before, after)) {
      String queue =
          before.status().admission().map(CachedWorkload.Admission::clusterQueue).orElse("");
      evicted
          .labelValues(
              MetricFamilies.values(role.get(), queue, cluster, WorkloadTransitions.reason(after)))
          .inc();
    }
  }

  /** This worker cluster was cut off, because it sent more than is read from one. */
  public void cutOff(String cluster) {
    cutOff.labelValues(MetricFamilies.values(role.get(), cluster)).inc();
  }

  /** An object of this worker cluster could not be read. */
  public void unreadable(String cluster) {
    unreadable.labelValues(MetricFamilies.values(role.get(), cluster)).inc();
  }

  /** A Workload that this manager sent was deactivated in this cluster by its fence. */
  public void fenced(String origin) {
    fenced.labelValues(MetricFamilies.values(role.get(), origin)).inc();
  }
}
