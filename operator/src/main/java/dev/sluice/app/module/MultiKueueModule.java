package dev.sluice.app.module;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.MultiKueue;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.app.module.SchedulingEventRecorder.WorkloadReference;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.checks.multikueue.access.ClusterProfileValidator;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.capacity.CapacityEstimator;
import dev.sluice.checks.multikueue.capacity.WorkerQueues;
import dev.sluice.checks.multikueue.dispatch.DispatcherFactory;
import dev.sluice.checks.multikueue.fencing.FenceTimeouts;
import dev.sluice.checks.multikueue.fencing.FencingController;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.WorkerClients;
import dev.sluice.checks.multikueue.sync.LeaseHeartbeat;
import dev.sluice.checks.multikueue.sync.MultiKueueKinds;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.ClusterSelector;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.DispatchListener;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.LocalPods;
import dev.sluice.checks.multikueue.sync.OriginLabel;
import dev.sluice.dashboard.DashboardSources.WorkerCluster;
import dev.sluice.jobs.controller.JobSimulator;
import dev.sluice.jobs.kind.AddedKinds;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.kube.client.MonotonicClock;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.RecordedEventNotifier;
import dev.sluice.metrics.MultiKueueMetrics;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.CachedStartRules;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.workload.lifecycle.CheckedAdmission;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.Condition;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Dispatch to worker clusters, where the gate {@code MultiKueue} is on; and fencing, the worker's
 * side, in any case.
 */
public final class MultiKueueModule implements OperatorModule {

  private static final int REQUESTS_AT_A_TIME = 16;

  private final OperatorContext context;
  private final InformerModule informers;
  private final SchedulerModule scheduler;
  private final WorkloadModule workloads;
  private final PodIndex podIndex;
  private final MultiKueue configuration;
  private final InstantSource monotonicClock;
  private final MultiKueueEventRecorder events;
  private final FencingController fencing;
  private final Optional<MultiKueueControllers> controllers;

  /** Connected to the Workloads that {@code workloads} reads. */
  public MultiKueueModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      QueueModule queues,
      WorkloadModule workloads,
      PodIndex podIndex) {
    this.context = context;
    this.informers = informers;
    this.scheduler = scheduler;
    this.workloads = workloads;
    this.podIndex = podIndex;
    configuration = context.configuration().multiKueue();
    monotonicClock = new MonotonicClock(context.clock());
    events = new MultiKueueEventRecorder(context.events(), context.clock());
    MultiKueueControllers.Quotas quotas = queues.quotas();
    if (!automatesQuota()) {
      quotas.conditions().clear();
    }
    fencing = fencing();
    controllers =
        context.isEnabled(FeatureGate.MULTI_KUEUE)
            ? Optional.of(controllers(quotas))
            : Optional.empty();
    controllers.ifPresent(it -> scheduler.nominateBy(it.firstNomination()));
    controllers.ifPresent(this::measure);
  }

  /** The controllers; empty if MultiKueue is off. */
  Optional<MultiKueueControllers> controllers() {
    return controllers;
  }

  private void measure(MultiKueueControllers measuredControllers) {
    MultiKueueMetrics metrics =
        new MultiKueueMetrics(
            context.metrics().registry(),
            context::role,
            measuredControllers.connections()::connected,
            () -> clustersByQueue(measuredControllers.clusterSelector()));
    events.measure(metrics);
    workloads.reflector().listen(metrics);
    RemovedQueueObserver.connect(informers.caches(), context.metrics(), metrics);
  }

  /** The worker clusters that each ClusterQueue uses by its admission checks. */
  private Map<String, List<String>> clustersByQueue(ClusterSelector clusterSelector) {
    Map<String, List<String>> result = new TreeMap<>();
    for (ClusterQueue queue : informers.caches().clusterQueues().all()) {
      result.put(queue.getMetadata().getName(), clusters(clusterSelector, queue).orElse(List.of()));
    }
    return result;
  }

  /** The worker clusters of a queue's checks; empty if no check of it sends jobs elsewhere. */
  private static Optional<List<String>> clusters(
      ClusterSelector clusterSelector, ClusterQueue queue) {
    List<List<String>> ofChecks =
        ClusterQueueMapper.admissionChecks(queue).stream()
            .flatMap(check -> clusterSelector.of(check).stream())
            .toList();
    return ofChecks.isEmpty()
        ? Optional.empty()
        : Optional.of(ofChecks.stream().flatMap(List::stream).distinct().toList());
  }

  /** The active worker clusters that a job of a ClusterQueue would be offered to. */
  JobSimulator.Workers workers(String clusterQueue) {
    return controllers
        .flatMap(
            it ->
                informers
                    .caches()
                    .clusterQueues()
                    .find(clusterQueue)
                    .flatMap(queue -> clusters(it.clusterSelector(), queue))
                    .map(names -> workers(it, names)))
        .orElse(JobSimulator.Workers.NONE);
  }

  private JobSimulator.Workers workers(
      MultiKueueControllers multiKueueControllers, List<String> names) {
    Set<String> active =
        multiKueueControllers.workerClusters().stream()
            .filter(cluster -> ActiveCondition.holds(conditions(cluster)))
            .map(cluster -> cluster.getMetadata().getName())
            .collect(Collectors.toSet());
    return JobSimulator.Workers.of(
        configuration.dispatcherName(),
        context.isEnabled(FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER),
        names.stream().filter(active::contains).toList());
  }

  private boolean automatesQuota() {
    return context.isEnabled(FeatureGate.MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION);
  }

  private FencingController fencing() {
    return new FencingController(
        new FencingController.Dependencies(
            context.client(),
            context.configuration().namespace(),
            workloads.reflector(),
            workloads.writer(),
            context.leadership()::leading,
            context.executor(),
            context::schedule,
            monotonicClock,
            events::fenced,
            context.informers()));
  }

  private MultiKueueControllers controllers(MultiKueueControllers.Quotas quotas) {
    boolean confined = context.isEnabled(FeatureGate.MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION);
    ObjectMapper mapper = JsonMappers.JSON;
    Optional<WorkerQueues> queues =
        automatesQuota()
                || context.isEnabled(FeatureGate.DYNAMIC_QUOTA_ORCHESTRATION)
                || configuration.dispatcherName().equals(MultiKueue.BEST_FIT)
            ? Optional.of(new WorkerQueues())
            : Optional.empty();
    return new MultiKueueControllers(
        new MultiKueueControllers.Dependencies(
            context.client(),
            context.configuration().namespace(),
            new KubeconfigFiles(KubeconfigFiles.ROOT, confined),
            clusterProfiles(),
            confined,
            context.leadership(),
            context.requests(REQUESTS_AT_A_TIME),
            mapper,
            new RecordedEventNotifier(context.events()),
            connections(),
            dispatch(queues),
            queues,
            Optional.of(quotas).filter(any -> automatesQuota()),
            informers.localClusters(),
            context.informers()));
  }

  private ConnectionContext connections() {
    String selector = KueueConstants.MULTIKUEUE_ORIGIN + "=" + configuration.origin();
    return new ConnectionContext(
        new WorkerClients(selector, monotonicClock, context.clock()),
        context.executor(),
        context::schedule,
        monotonicClock,
        context.writes(),
        context.isEnabled(FeatureGate.MULTI_KUEUE_REUSE_CLIENT_CONNECTION_CONFIG_FOR_WORKERS)
            ? KubernetesClients.limiter(context.configuration().clientConnection())
            : RequestLimiter.unlimited());
  }

  private MultiKueueWorkloadReconciler.Options dispatch(Optional<WorkerQueues> queues) {
    return new MultiKueueWorkloadReconciler.Options(
        workloads.reflector(),
        workloads.writer(),
        placement(),
        new OriginLabel(
            configuration.origin(), context.isEnabled(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS)),
        kinds(),
        configuration.gcInterval(),
        new LeaseHeartbeat.Fence(
            new FenceTimeouts(configuration.workerLostTimeout()),
            context.configuration().namespace(),
            UUID.randomUUID().toString(),
            monotonicClock),
        queues.<CapacityEstimator>map(it -> it).orElse(CapacityEstimator.UNKNOWN),
        informers.localClusters(),
        new IndexedLocalPods(podIndex),
        events,
        new CheckedAdmission(
            new CachedQueues(informers.caches()),
            context.options().lifecycle().evicting(new AttendedKinds(context)),
            scheduler.events(),
            context.clock()),
        awaitsPods(),
        context.isEnabled(FeatureGate.MULTI_KUEUE_ORCHESTRATED_PREEMPTION));
  }

  private Predicate<CachedWorkload> awaitsPods() {
    boolean always = context.options().lifecycle().podsReady().isPresent();
    CachedStartRules startRules = new CachedStartRules(informers.caches());
    return workload -> always || startRules.apply(workload).awaitPods();
  }

  private Optional<ClusterProfileValidator> clusterProfiles() {
    return context.isEnabled(FeatureGate.MULTI_KUEUE_CLUSTER_PROFILE)
        ? Optional.of(new ClusterProfileValidator(configuration.accessProviders()))
        : Optional.empty();
  }

  private MultiKueueKinds kinds() {
    return MultiKueueKinds.beside(
        List.copyOf(AddedKinds.of(context.configuration())),
        context.isEnabled(FeatureGate.MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS)
            ? configuration.externalFrameworks()
            : List.of(),
        context.isEnabled(FeatureGate.MULTI_KUEUE_REMOTE_SPEC_SYNC));
  }

  private WorkloadPlacement placement() {
    return new WorkloadPlacement(
        DispatcherFactory.of(
            configuration,
            context.isEnabled(FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER)),
        configuration.workerLostTimeout());
  }

  /** The worker clusters; none while the gate {@code MultiKueue} is off. */
  Collection<WorkerCluster> workerClusters() {
    return controllers.stream()
        .flatMap(it -> it.workerClusters().stream().map(cluster -> workerCluster(it, cluster)))
        .toList();
  }

  private static List<Condition> conditions(MultiKueueCluster cluster) {
    return cluster.getStatus() == null ? List.of() : cluster.getStatus().conditions();
  }

  private static WorkerCluster workerCluster(
      MultiKueueControllers controllers, MultiKueueCluster cluster) {
    String name = cluster.getMetadata().getName();
    Optional<Condition> active = ActiveCondition.find(conditions(cluster));
    return new WorkerCluster(
        name,
        controllers.connections().connected().getOrDefault(name, false),
        active.map(Condition::getReason).orElse(""),
        active.map(Condition::getMessage).orElse(""));
  }

  @Override
  public void register(Operator operator) {
    controllers.ifPresent(it -> it.register(operator, context.workQueues().concurrency()));
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) {
    fencing.start();
    controllers.ifPresent(MultiKueueControllers::start);
  }

  @Override
  public void leadershipStarted() {
    controllers.ifPresent(MultiKueueControllers::leadershipStarted);
  }

  @Override
  public void leadershipEnded() {
    controllers.ifPresent(MultiKueueControllers::leadershipEnded);
  }

  @Override
  public void close() {
    try {
      fencing.close();
    } finally {
      controllers.ifPresent(MultiKueueControllers::close);
    }
  }

  /**
   * The managed pods of this cluster, for those who send them to others.
   *
   * @param podIndex what the watch tells
   */
  private record IndexedLocalPods(PodIndex podIndex) implements LocalPods {

    @Override
    public List<LocalPod> group(String namespace, String group) {
      return podIndex.group(namespace, group).stream()
          .map(
              pod ->
                  new LocalPod(
                      pod.name(), pod.job().ref().uid(), pod.job().deletionTime().isPresent()))
          .toList();
    }

    @Override
    public void observe(BiConsumer<String, String> observer) {
      podIndex.observe(observer);
    }
  }

  /** Records the dispatch of Workloads to worker clusters: events on the Workload, and metrics. */
  private static final class MultiKueueEventRecorder implements DispatchListener {

    private static final String MULTI_KUEUE = "MultiKueue";

    private final EventRecorder events;
    private final InstantSource clock;
    private volatile Optional<MultiKueueMetrics> metrics = Optional.empty();

    /** Records events only. */
    MultiKueueEventRecorder(EventRecorder events, InstantSource clock) {
      this.events = events;
      this.clock = clock;
    }

    /** Records metrics too from now on. */
    void measure(MultiKueueMetrics metrics) {
      this.metrics = Optional.of(metrics);
    }

    /** The Workload was deactivated because its manager was silent for too long. */
    void fenced(CachedWorkload workload) {
      String origin = workload.labels().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN, "");
      metrics.ifPresent(it -> it.fenced(origin));
      reported(
          workload,
          true,
          "Deactivated: the manager cluster that sent the workload, origin \""
              + origin
              + "\", was not heard of in time");
    }

    @Override
    public void dispatched(CachedWorkload workload, String clusterQueue, String cluster) {
      metrics.ifPresent(it -> it.dispatched(clusterQueue, cluster));
    }

    @Override
    public void admitted(CachedWorkload workload, String clusterQueue, String cluster) {
      Duration after = Duration.between(workload.createdAt(), clock.instant());
      metrics.ifPresent(it -> it.admitted(clusterQueue, cluster, after));
    }

    @Override
    public void requeued(CachedWorkload workload, String clusterQueue, String cluster) {
      metrics.ifPresent(it -> it.requeued(clusterQueue, cluster));
    }

    @Override
    public void cutOff(String cluster) {
      metrics.ifPresent(it -> it.cutOff(cluster));
    }

    @Override
    public void unreadable(String cluster) {
      metrics.ifPresent(it -> it.unreadable(cluster));
    }

    @Override
    public void reported(CachedWorkload workload, boolean warning, String note) {
      events.record(
          WorkloadReference.of(workload.id()),
          warning ? EventRecorder.Type.WARNING : EventRecorder.Type.NORMAL,
          MULTI_KUEUE,
          "Dispatch",
          note);
    }
  }
}
