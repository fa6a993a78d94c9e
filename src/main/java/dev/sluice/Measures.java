package dev.sluice;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.controllers.world.World;
import dev.sluice.engine.Views;
import dev.sluice.model.LocalQueueId;
import dev.sluice.observe.MetricsScrape;
import dev.sluice.observe.QueueGauges;
import dev.sluice.observe.ReplicaRole;
import dev.sluice.observe.WorkloadCensus;
import dev.sluice.observe.WorkloadMetrics;
import dev.sluice.observe.WorkloadTransitions;
import dev.sluice.workloads.WorkloadReader;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** What is measured of queues and Workloads, by configuration. */
record Measures(
    Configuration configuration, MetricsScrape metrics, Views views, Supplier<ReplicaRole> role) {

  /**
   * Measures what {@code reader} reads, and reports the LocalQueues of {@code world}.
   *
   * @return what else counts Workloads with
   */
  WorkloadMetrics of(WorkloadReader reader, World world, InstantSource clock) {
    Predicate<LocalQueueId> reported = reported(world);
    WorkloadMetrics workloads = new WorkloadMetrics(metrics.registry(), views, role, reported);
    WorkloadCensus census = new WorkloadCensus();
    reader.listen(census);
    reader.listen(new WorkloadTransitions(workloads, views, role, clock));
    metrics.forgetting(workloads);
    metrics.include(
        new QueueGauges(
            views,
            census,
            role,
            reported,
            new QueueGauges.Options(
                configuration.metrics().enableClusterQueueResources(),
                configuration.featureGates().enabled(FeatureGate.METRICS_FOR_COHORTS))));
    return workloads;
  }

  private Predicate<LocalQueueId> reported(World world) {
    var local = configuration.metrics().localQueueMetrics();
    return id ->
        local.enable()
            && world
                .localQueues()
                .find(id.namespace(), id.name())
                .map(queue -> queue.getMetadata().getLabels())
                .map(labels -> local.localQueueSelector().matches(labels))
                .orElseGet(() -> local.localQueueSelector().matches(Map.of()));
  }
}
