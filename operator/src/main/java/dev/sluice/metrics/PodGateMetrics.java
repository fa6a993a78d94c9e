package dev.sluice.metrics;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Condition;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * How long after the admission of a Workload the scheduling gates of its pods are removed.
 * Thread-safe.
 */
public final class PodGateMetrics {

  private static final List<String> LABELS = List.of("name", "cluster_queue", "is_group");
  private static final int QUEUE = LABELS.indexOf("cluster_queue");

  private final SchedulerViews views;
  private final Supplier<ReplicaRole> role;
  private final InstantSource clock;
  private final CustomLabels customLabels;
  private final Histogram removal;

  /**
   * Registers the metric.
   *
   * @param views the existing queues
   * @param role the current role of this replica
   * @param clock the current time
   * @param customLabels further labels
   */
  public PodGateMetrics(
      PrometheusRegistry registry,
      SchedulerViews views,
      Supplier<ReplicaRole> role,
      InstantSource clock,
      CustomLabels customLabels) {
    this.views = views;
    this.role = role;
    this.clock = clock;
    this.customLabels = customLabels;
    removal =
        new MetricFamilies(registry, customLabels)
            .histogram(
                "kueue_pod_scheduling_gate_removal_seconds",
                "From the admission of a workload to the removal of a gate from one of its pods",
                Histogram.Builder.DEFAULT_CLASSIC_UPPER_BOUNDS,
                LABELS.toArray(String[]::new));
  }

  /** A gate of this name was removed from a pod of an admitted Workload. */
  public void removed(CachedWorkload workload, String gate) {
    String queue = workload.status().admission().map(Admission::clusterQueue).orElse("");
    String group =
        String.valueOf("true".equals(workload.annotations().get(KueueConstants.IS_GROUP_WORKLOAD)));
    Instant now = clock.instant();
    Instant admitted =
        workload.status().condition("Admitted").map(Condition::lastTransitionTime).orElse(now);
    List<String> own = List.of(gate, queue, group);
    List<String> values =
        new ArrayList<>(List.of(MetricFamilies.values(role.get(), own.toArray(String[]::new))));
    values.addAll(customLabels.values(LABELS, own));
    removal
        .labelValues(values.toArray(String[]::new))
        .observe(SchedulerMetrics.seconds(Duration.between(admitted, now)));
  }

  /** A ClusterQueue was deleted: its series end. */
  public void clusterQueueRemoved(String name) {
    removal.removeIf(labels -> labels.get(QUEUE).equals(name));
  }

  /** Removes series of queues that don't exist: a late write may have begun them again. */
  public void forgetRemoved() {
    removal.removeIf(labels -> views.clusterQueue(labels.get(QUEUE)).isEmpty());
  }
}
