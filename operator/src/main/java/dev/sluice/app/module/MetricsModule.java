package dev.sluice.app.module;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.app.module.RemovedQueueObserver.CachedLabelSources;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.BuildInfo;
import dev.sluice.metrics.CustomLabels;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.PendingGauges;
import dev.sluice.metrics.PodGateMetrics;
import dev.sluice.metrics.QueueGauges;
import dev.sluice.metrics.QueueGauges.Orchestrators;
import dev.sluice.metrics.QuotaFactorGauges;
import dev.sluice.metrics.ReadErrorRecorder;
import dev.sluice.metrics.ReservationGauges;
import dev.sluice.metrics.SchedulerMetrics;
import dev.sluice.metrics.WorkloadCounter;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.metrics.WorkloadTransitions;
import dev.sluice.queues.cache.CachedQuotaSchedules;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadReader;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The metrics of scheduling cycles, queues and Workloads, and of objects that can't be read. */
public final class MetricsModule implements OperatorModule {

  private final OperatorContext context;
  private final CustomLabels customLabels;
  private final SchedulerMetrics cycles;
  private volatile Optional<PodGateMetrics> podGates = Optional.empty();

  /** Records what can't be read; values of custom labels come from the caches. */
  public MetricsModule(OperatorContext context, InformerCaches informerCaches) {
    this.context = context;
    customLabels = WorkloadMetricsFactory.customLabels(context.configuration(), informerCaches);
    cycles =
        new SchedulerMetrics(
            context.metrics().registry(),
            context::role,
            context.isEnabled(FeatureGate.METRIC_FOR_WORKLOAD_CREATION_LATENCY),
            BuildInfo.ofThisProcess(),
            customLabels);
    context
        .readErrors()
        .listen(
            new ReadErrorRecorder(context.metrics().registry(), context.events(), context::role));
  }

  /**
   * Records a scheduling cycle; {@code success} tells whether it admitted or evicted a Workload.
   */
  void recordCycle(long nanos, boolean success) {
    cycles.cycleEnded(success, Duration.ofNanos(nanos));
  }

  /** Records that a Workload was created for a job of this kind, as it was created itself. */
  void recordWorkloadCreation(String jobKind, LocalQueueId queue, Duration sinceJobCreation) {
    cycles.workloadCreated(jobKind, queue, sinceJobCreation);
  }

  /** Records that a gate of this name was removed from a pod of an admitted Workload. */
  void recordGateRemoval(CachedWorkload workload, String gate) {
    podGates.ifPresent(metrics -> metrics.removed(workload, gate));
  }

  /**
   * Reports the pending Workloads.
   *
   * @param pending asks the engine; its argument says whether requests with other names of pod sets
   *     are different ones
   */
  PendingGauges pending(
      SchedulerViews views,
      Function<Boolean, CompletableFuture<Map<String, PendingTotals>>> pending,
      PendingGauges.PendingWorkloads workloads) {
    boolean names =
        !context.isEnabled(FeatureGate.SCHEDULING_EQUIVALENCE_HASHING_IGNORE_POD_SET_NAME);
    PendingGauges gauges =
        new PendingGauges(
            views,
            () -> pending.apply(names),
            context::role,
            context.clock(),
            new PendingGauges.Options(
                context.configuration().metrics().enableClusterQueueResources(),
                context.isEnabled(FeatureGate.SCHEDULING_EQUIVALENCE_HASHING)),
            customLabels,
            workloads);
    context.metrics().include(gauges);
    return gauges;
  }

  /** Reports the factors of quota by time of day. */
  public void quotaFactors(CachedQuotaSchedules schedules) {
    context
        .metrics()
        .include(new QuotaFactorGauges(schedules::factors, context::role, customLabels));
  }

  /** Reports what keeps capacity at present. */
  public void reservations(SchedulerModule scheduler) {
    context
        .metrics()
        .include(
            new ReservationGauges(
                () -> scheduler.reservations().keepers(), context::role, customLabels));
  }

  /** Measures the Workloads that {@code reader} reads and the queues of {@code views}. */
  WorkloadMetrics workloads(
      SchedulerViews views, WorkloadReader reader, InformerCaches informerCaches) {
    PodGateMetrics gates =
        new PodGateMetrics(
            context.metrics().registry(), views, context::role, context.clock(), customLabels);
    podGates = Optional.of(gates);
    return new WorkloadMetricsFactory(
            context.configuration(), context.metrics(), views, context::role, gates)
        .of(reader, informerCaches, context.clock());
  }

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
      boolean variants = configuration.featureGates().enabled(FeatureGate.CONCURRENT_ADMISSION);
      WorkloadCounter census = new WorkloadCounter(customLabels, variants);
      reader.listen(census);
      reader.listen(new WorkloadTransitions(workloads, schedulerViews, role, clock, variants));
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
                  customLabels,
                  configuration.featureGates().enabled(FeatureGate.DYNAMIC_QUOTA_ORCHESTRATION)
                      ? Optional.of(new CachedOrchestrators(informerCaches))
                      : Optional.empty())));
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

  /** The orchestrators whose effective quotas are in the statuses of queues and cohorts. */
  private record CachedOrchestrators(InformerCaches informerCaches) implements Orchestrators {

    @Override
    public String ofClusterQueue(String name) {
      return name(
          informerCaches
              .clusterQueues()
              .find(name)
              .flatMap(queue -> Optional.ofNullable(queue.getStatus()))
              .flatMap(status -> Optional.ofNullable(status.effectiveQuotas())));
    }

    @Override
    public String ofCohort(String name) {
      return name(
          informerCaches
              .cohorts()
              .find(name)
              .flatMap(cohort -> Optional.ofNullable(cohort.getStatus()))
              .flatMap(status -> Optional.ofNullable(status.effectiveQuotas())));
    }

    private static String name(Optional<EffectiveQuotas> quotas) {
      return quotas.map(each -> each.orchestratorRef().name()).orElse("");
    }
  }

  /**
   * The published views of queues whose objects exist: a deleted queue has no view from the moment
   * its deletion is known, not only when the scheduler has published again. A cohort has a view as
   * long as its object exists or another object names it; a cohort whose object was deleted has
   * none while others name it.
   *
   * @param deletedCohorts the cohorts whose objects were deleted and which others may still name
   */
  record ExistingQueueViews(
      SchedulerViews published, InformerCaches caches, Set<String> deletedCohorts)
      implements SchedulerViews {

    /** The views of what exists according to the caches, which are observed from now on. */
    static ExistingQueueViews of(SchedulerViews published, InformerCaches caches) {
      Set<String> deleted = ConcurrentHashMap.newKeySet();
      caches
          .cohorts()
          .observe(
              (before, after) -> {
                if (after != null) {
                  deleted.remove(after.getMetadata().getName());
                } else if (before != null) {
                  deleted.add(before.getMetadata().getName());
                }
              });
      return new ExistingQueueViews(published, caches, deleted);
    }

    @Override
    public Optional<ClusterQueueView> clusterQueue(String name) {
      return published.clusterQueue(name).filter(this::exists);
    }

    @Override
    public Optional<LocalQueueView> localQueue(LocalQueueId id) {
      return published.localQueue(id).filter(this::exists);
    }

    @Override
    public Optional<CohortView> cohort(String name) {
      return published.cohort(name).filter(this::exists);
    }

    @Override
    public Collection<ClusterQueueView> clusterQueues() {
      return published.clusterQueues().stream().filter(this::exists).toList();
    }

    @Override
    public Collection<LocalQueueView> localQueues() {
      return published.localQueues().stream().filter(this::exists).toList();
    }

    @Override
    public Collection<CohortView> cohorts() {
      return published.cohorts().stream().filter(this::exists).toList();
    }

    private boolean exists(ClusterQueueView queue) {
      return caches.clusterQueues().find(queue.name()).isPresent();
    }

    private boolean exists(LocalQueueView queue) {
      return caches.localQueues().find(queue.id().namespace(), queue.id().name()).isPresent();
    }

    private boolean exists(CohortView cohort) {
      if (caches.cohorts().find(cohort.name()).isPresent()) {
        return true;
      }
      if (!isNamed(cohort.name())) {
        deletedCohorts.remove(cohort.name());
        return false;
      }
      return !deletedCohorts.contains(cohort.name());
    }

    private boolean isNamed(String cohort) {
      return published.clusterQueues().stream()
              .anyMatch(queue -> queue.cohort().equals(cohort) && exists(queue))
          || caches.cohorts().all().stream()
              .anyMatch(
                  child -> child.getSpec() != null && cohort.equals(child.getSpec().parentName()));
    }
  }
}
