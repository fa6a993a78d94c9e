package dev.sluice.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.MultiKueue;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.checks.multikueue.access.ClusterProfileValidator;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.capacity.CapacityEstimator;
import dev.sluice.checks.multikueue.capacity.WorkerQueues;
import dev.sluice.checks.multikueue.dispatch.DispatcherFactory;
import dev.sluice.checks.multikueue.fencing.FenceTimeouts;
import dev.sluice.checks.multikueue.fencing.FencingController;
import dev.sluice.checks.multikueue.fencing.MonotonicClock;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.WorkerClients;
import dev.sluice.checks.multikueue.sync.DispatchListener;
import dev.sluice.checks.multikueue.sync.LeaseHeartbeat;
import dev.sluice.checks.multikueue.sync.LocalPods;
import dev.sluice.checks.multikueue.sync.MultiKueueKinds;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler;
import dev.sluice.checks.multikueue.sync.OriginLabel;
import dev.sluice.kube.client.ApiPatcher;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kube.events.RecordedEventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.kube.reading.InformerSupervisor;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.MultiKueueMetrics;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadReader;
import dev.sluice.workload.WorkloadWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

/** What concerns worker clusters, put together where the gate {@code MultiKueue} is on. */
final class MultiKueueModule implements AutoCloseable {

  private static final int WRITES_AT_A_TIME = 4;

  private final FencingController fences;
  private final Optional<MultiKueueControllers> controllers;
  private volatile Optional<MultiKueueMetrics> measured = Optional.empty();

  /** Nothing is started; {@code operator} gets the reconcilers. */
  MultiKueueModule(
      Configuration configuration,
      KubernetesClient client,
      Leadership leadership,
      EventRecorder events,
      ExecutorService background,
      ConnectionContext.Delays delays,
      InstantSource clock,
      Operator operator,
      WorkloadReader reader,
      WorkloadWriter writer,
      MultiKueueControllers.Quotas quotas,
      LocalClusters localClusters,
      LocalPods localPods,
      InformerSupervisor informerSupervisor) {
    boolean automates =
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION);
    if (!automates) {
      quotas.notes().clear();
    }
    InstantSource steady = new MonotonicClock(clock);
    fences =
        new FencingController(
            new FencingController.Dependencies(
                client,
                configuration.namespace(),
                reader,
                writer,
                leadership::leading,
                background,
                delays,
                steady,
                new Recorded(events, clock)::fenced,
                informerSupervisor));
    if (!configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE)) {
      controllers = Optional.empty();
      return;
    }
    boolean confined =
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION);
    String selector = KueueConstants.MULTIKUEUE_ORIGIN + "=" + configuration.multiKueue().origin();
    ObjectMapper mapper = new ObjectMapper();
    Optional<WorkerQueues> queues =
        automates || configuration.multiKueue().dispatcherName().equals(MultiKueue.BEST_FIT)
            ? Optional.of(new WorkerQueues())
            : Optional.empty();
    MultiKueueControllers made =
        new MultiKueueControllers(
            new MultiKueueControllers.Dependencies(
                client,
                configuration.namespace(),
                new KubeconfigFiles(KubeconfigFiles.ROOT, confined),
                profiles(configuration),
                confined,
                leadership,
                new ApiPatcher(client, mapper, leadership, WRITES_AT_A_TIME),
                mapper,
                new RecordedEventNotifier(events),
                new ConnectionContext(
                    new WorkerClients(selector, steady, clock, background),
                    background,
                    delays,
                    steady),
                new MultiKueueWorkloadReconciler.Options(
                    reader,
                    writer,
                    placement(configuration),
                    new OriginLabel(
                        configuration.multiKueue().origin(),
                        configuration
                            .featureGates()
                            .enabled(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS)),
                    kinds(configuration),
                    configuration.multiKueue().gcInterval(),
                    new LeaseHeartbeat.Fence(
                        new FenceTimeouts(configuration.multiKueue().workerLostTimeout()),
                        configuration.namespace(),
                        UUID.randomUUID().toString(),
                        steady),
                    queues.<CapacityEstimator>map(it -> it).orElse(CapacityEstimator.UNKNOWN),
                    localClusters,
                    localPods,
                    new Recorded(events, clock),
                    configuration
                        .featureGates()
                        .enabled(FeatureGate.MULTI_KUEUE_ORCHESTRATED_PREEMPTION)),
                queues,
                Optional.of(quotas).filter(any -> automates),
                localClusters,
                informerSupervisor));
    made.register(operator);
    controllers = Optional.of(made);
  }

  private static Optional<ClusterProfileValidator> profiles(Configuration configuration) {
    return configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_CLUSTER_PROFILE)
        ? Optional.of(new ClusterProfileValidator(configuration.multiKueue().accessProviders()))
        : Optional.empty();
  }

  private static MultiKueueKinds kinds(Configuration configuration) {
    return MultiKueueKinds.of(
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS)
            ? configuration.multiKueue().externalFrameworks()
            : List.of(),
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_REMOTE_SPEC_SYNC));
  }

  private static WorkloadPlacement placement(Configuration configuration) {
    return new WorkloadPlacement(
        DispatcherFactory.of(
            configuration.multiKueue(),
            configuration
                .featureGates()
                .enabled(FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER)),
        configuration.multiKueue().workerLostTimeout());
  }

  /** Measures connections, and what is sent; to be called before anything is started. */
  void measure(MetricsScrape metrics, Supplier<ReplicaRole> role) {
    measured =
        controllers.map(
            it -> new MultiKueueMetrics(metrics.registry(), role, it.links()::connected));
  }

  void start() {
    fences.start();
    controllers.ifPresent(MultiKueueControllers::start);
  }

  void leadershipStarted() {
    controllers.ifPresent(MultiKueueControllers::leadershipStarted);
  }

  @Override
  public void close() {
    fences.close();
    controllers.ifPresent(MultiKueueControllers::close);
  }

  /** Tells of what is sent: events on the Workload, and counts. */
  private final class Recorded implements DispatchListener {

    private static final String MULTI_KUEUE = "MultiKueue";
    private final EventRecorder events;
    private final InstantSource clock;

    Recorded(EventRecorder events, InstantSource clock) {
      this.events = events;
      this.clock = clock;
    }

    /** It was switched off because its manager isn't heard of. */
    void fenced(CachedWorkload workload) {
      String origin = workload.labels().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN, "");
      measured.ifPresent(it -> it.fenced(origin));
      reported(
          workload,
          true,
          "Switched off: the manager that sent it was not heard of for as long as it allows");
    }

    @Override
    public void dispatched(CachedWorkload workload, String clusterQueue, String cluster) {
      measured.ifPresent(it -> it.dispatched(clusterQueue, cluster));
    }

    @Override
    public void admitted(CachedWorkload workload, String clusterQueue, String cluster) {
      Duration after = Duration.between(workload.createdAt(), clock.instant());
      measured.ifPresent(it -> it.admitted(clusterQueue, cluster, after));
    }

    @Override
    public void requeued(CachedWorkload workload, String clusterQueue, String cluster) {
      measured.ifPresent(it -> it.requeued(clusterQueue, cluster));
    }

    @Override
    public void reported(CachedWorkload workload, boolean warning, String note) {
      events.record(
          new ObjectReference(
              ApiVersions.GROUP + "/" + ApiVersions.V1BETA2,
              "Workload",
              workload.id().namespace(),
              workload.id().name(),
              workload.id().uid()),
          warning ? EventRecorder.Type.WARNING : EventRecorder.Type.NORMAL,
          MULTI_KUEUE,
          "Dispatch",
          note);
    }
  }
}
