package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.leader.ReplicaRole;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Metrics of scheduling cycles and other metrics without a queue. Thread-safe. */
public final class SchedulerMetrics {

  private final Supplier<ReplicaRole> role;
  private final Counter attempts;
  private final Histogram durations;
  private final Histogram durationsByOwnName;
  private final Histogram creationLatency;
  private final CustomLabels customLabels;
  private final boolean measureCreation;

  /**
   * Registers the metrics.
   *
   * @param role the current role of this replica
   * @param measureCreation whether the latency from a job to its Workload is measured
   * @param customLabels further labels; that latency takes those of LocalQueues
   */
  public SchedulerMetrics(
      PrometheusRegistry registry,
      Supplier<ReplicaRole> role,
      boolean measureCreation,
      BuildInfo build,
      CustomLabels customLabels) {
    this.role = role;
    this.customLabels = customLabels;
    this.measureCreation = measureCreation;
    MetricFamilies metricFamilies = new MetricFamilies(registry, customLabels);
    attempts =
        metricFamilies.counter(
            "kueue_admission_attempts_total",
            "Scheduling cycles; success: at least one workload was admitted or evicted",
            "result");
    durations =
        metricFamilies.histogram(
            "kueue_admission_attempt_duration_seconds",
            "How long a scheduling cycle took",
            Histogram.Builder.DEFAULT_CLASSIC_UPPER_BOUNDS,
            "result");
    durationsByOwnName =
        metricFamilies.histogram(
            "sluice_scheduling_cycle_duration_seconds",
            "The same as kueue_admission_attempt_duration_seconds",
            Histogram.Builder.DEFAULT_CLASSIC_UPPER_BOUNDS,
            "result");
    creationLatency =
        metricFamilies
            .ofLocalQueues()
            .histogram(
                "kueue_workload_creation_latency_seconds",
                "From the creation of a job to that of its Workload",
                MetricFamilies.doubling(0.01, 11),
                "job_kind");
    register(build, registry);
  }

  /** A cycle with at least one head ended. */
  public void cycleEnded(boolean success, Duration took) {
    String[] labels = MetricFamilies.values(role.get(), success ? "success" : "inadmissible");
    attempts.labelValues(labels).inc();
    durations.labelValues(labels).observe(seconds(took));
    durationsByOwnName.labelValues(labels).observe(seconds(took));
  }

  /**
   * A Workload was created for a job that was not changed since its creation.
   *
   * @param jobKind kind of the job, such as {@code Job}
   * @param queue its LocalQueue
   */
  public void workloadCreated(String jobKind, LocalQueueId queue, Duration sinceJobCreation) {
    if (measureCreation) {
      List<String> values = new ArrayList<>(List.of(MetricFamilies.values(role.get(), jobKind)));
      values.addAll(
          customLabels.values(
              CustomLabels.OF_LOCAL_QUEUE, List.of(queue.name(), queue.namespace())));
      creationLatency.labelValues(values.toArray(String[]::new)).observe(seconds(sinceJobCreation));
    }
  }

  /** Seconds of a duration; never negative, even if clocks disagree. */
  static double seconds(Duration duration) {
    return Math.max(0, duration.toNanos() / 1e9);
  }

  private static void register(BuildInfo build, PrometheusRegistry registry) {
    Info.builder()
        .name("kueue_build_info")
        .help("What this operator was built from and runs on; always 1")
        .labelNames("git_version", "git_commit", "build_date", "go_version", "compiler", "platform")
        .register(registry)
        .setLabelValues(
            build.version(),
            build.commit(),
            build.date(),
            build.runtime(),
            build.compiler(),
            build.platform());
  }
}
