package dev.sluice.app.module;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.CustomLabels;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.PodGateMetrics;
import dev.sluice.metrics.QueueGauges;
import dev.sluice.metrics.WorkloadCounter;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.metrics.WorkloadTransitions;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadReader;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** What is measured of queues and Workloads, by configuration. */
record WorkloadMetricsFactory(
    Configuration configuration,
    MetricsScrape metrics,
    SchedulerViews schedulerViews,
    Supplier<ReplicaRole> role,
    PodGateMetrics podGates) {

  /**
   * Measures what {@code reader} reads, and reports the LocalQueues of {@code world}.
   *
   * @return what else counts Workloads with
   */
  WorkloadMetrics of(WorkloadReader reader, InformerCaches informerCaches, InstantSource clock) {
    Predicate<LocalQueueId> reported = reported(informerCaches);
    CustomLabels customLabels = customLabels(configuration, informerCaches);
    WorkloadMetrics workloads =
        new WorkloadMetrics(metrics.registry(), schedulerViews, role, reported, customLabels);
    WorkloadCounter census = new WorkloadCounter(customLabels);
    reader.listen(census);
    reader.listen(new WorkloadTransitions(workloads, schedulerViews, role, clock));
    metrics.forgetting(workloads::forgetRemoved);
    metrics.forgetting(podGates::forgetRemoved);
    RemovedQueueObserver.connect(informerCaches, workloads, podGates, customLabels);
    metrics.include(
        new QueueGauges(
            ExistingQueueViews.of(schedulerViews, informerCaches),
            census,
            role,
            reported,
            new QueueGauges.Options(
                configuration.metrics().enableClusterQueueResources(),
                configuration.featureGates().enabled(FeatureGate.METRICS_FOR_COHORTS),
                customLabels)));
    return workloads;
  }

  /** The further labels of the configuration. */
  static CustomLabels customLabels(Configuration configuration, InformerCaches informerCaches) {
    return new CustomLabels(
        configuration.metrics().customLabels(), new CachedLabelSources(informerCaches));
  }

  private Predicate<LocalQueueId> reported(InformerCaches informerCaches) {
    var local = configuration.metrics().localQueueMetrics();
    boolean enabled = reportsLocalQueues(configuration);
    return id ->
        enabled
            && informerCaches
                .localQueues()
                .find(id.namespace(), id.name())
                .map(queue -> queue.getMetadata().getLabels())
                .map(labels -> local.localQueueSelector().matches(labels))
                .orElseGet(() -> local.localQueueSelector().matches(Map.of()));
  }

  /** Whether LocalQueues have series of their own: block and gate are both on. */
  static boolean reportsLocalQueues(Configuration configuration) {
    return configuration.metrics().localQueueMetrics().enable()
        && configuration.featureGates().enabled(FeatureGate.LOCAL_QUEUE_METRICS);
  }
}
