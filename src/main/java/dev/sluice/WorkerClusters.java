package dev.sluice;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.Keys;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.MultiKueue;
import dev.sluice.api.reading.Informers;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.checks.multikueue.access.ClusterProfileRules;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.capacity.Fitting;
import dev.sluice.checks.multikueue.capacity.WorkerQueues;
import dev.sluice.checks.multikueue.dispatch.Dispatchers;
import dev.sluice.checks.multikueue.fencing.FenceKeeper;
import dev.sluice.checks.multikueue.fencing.FenceTerms;
import dev.sluice.checks.multikueue.fencing.SteadyClock;
import dev.sluice.checks.multikueue.link.Around;
import dev.sluice.checks.multikueue.link.WorkerClients;
import dev.sluice.checks.multikueue.placement.Placement;
import dev.sluice.checks.multikueue.sending.Desk;
import dev.sluice.checks.multikueue.sending.LocalPods;
import dev.sluice.checks.multikueue.sending.Mark;
import dev.sluice.checks.multikueue.sending.Renewals;
import dev.sluice.checks.multikueue.sending.SentKinds;
import dev.sluice.checks.multikueue.sending.Told;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.RecordedNotices;
import dev.sluice.controllers.world.LocalWorkers;
import dev.sluice.observe.EventRecorder;
import dev.sluice.observe.EventSubject;
import dev.sluice.observe.MetricsScrape;
import dev.sluice.observe.MultiKueueMetrics;
import dev.sluice.observe.ReplicaRole;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadReader;
import dev.sluice.workloads.WorkloadWriter;
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
final class WorkerClusters implements AutoCloseable {

  private static final int WRITES_AT_A_TIME = 4;

  private final FenceKeeper fences;
  private final Optional<MultiKueueControllers> controllers;
  private volatile Optional<MultiKueueMetrics> measured = Optional.empty();

  /** Nothing is started; {@code operator} gets the reconcilers. */
  WorkerClusters(
      Configuration configuration,
      KubernetesClient client,
      Leadership leadership,
      EventRecorder events,
      ExecutorService background,
      Around.Delays delays,
      InstantSource clock,
      Operator operator,
      WorkloadReader reader,
      WorkloadWriter writer,
      MultiKueueControllers.Quotas quotas,
      LocalWorkers localWorkers,
      LocalPods localPods,
      Informers informers) {
    boolean automates =
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION);
    if (!automates) {
      quotas.notes().silence();
    }
    InstantSource steady = new SteadyClock(clock);
    fences =
        new FenceKeeper(
            new FenceKeeper.Parts(
                client,
                configuration.namespace(),
                reader,
                writer,
                leadership::leading,
                background,
                delays,
                steady,
                new Recorded(events, clock)::fenced,
                informers));
    if (!configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE)) {
      controllers = Optional.empty();
      return;
    }
    boolean confined =
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION);
    String selector = Keys.MULTIKUEUE_ORIGIN + "=" + configuration.multiKueue().origin();
    ObjectMapper mapper = new ObjectMapper();
    Optional<WorkerQueues> queues =
        automates || configuration.multiKueue().dispatcherName().equals(MultiKueue.BEST_FIT)
            ? Optional.of(new WorkerQueues())
            : Optional.empty();
    MultiKueueControllers made =
        new MultiKueueControllers(
            new MultiKueueControllers.Parts(
                client,
                configuration.namespace(),
                new KubeconfigFiles(KubeconfigFiles.ROOT, confined),
                profiles(configuration),
                confined,
                leadership,
                new MergePatches(client, mapper, leadership, WRITES_AT_A_TIME),
                mapper,
                new RecordedNotices(events),
                new Around(
                    new WorkerClients(selector, steady, clock, background),
                    background,
                    delays,
                    steady),
                new Desk.Rules(
                    reader,
                    writer,
                    placement(configuration),
                    new Mark(
                        configuration.multiKueue().origin(),
                        configuration
                            .featureGates()
                            .enabled(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS)),
                    kinds(configuration),
                    configuration.multiKueue().gcInterval(),
                    new Renewals.Fence(
                        new FenceTerms(configuration.multiKueue().workerLostTimeout()),
                        configuration.namespace(),
                        UUID.randomUUID().toString(),
                        steady),
                    queues.<Fitting>map(it -> it).orElse(Fitting.UNKNOWN),
                    localWorkers,
                    localPods,
                    new Recorded(events, clock),
                    configuration
                        .featureGates()
                        .enabled(FeatureGate.MULTI_KUEUE_ORCHESTRATED_PREEMPTION)),
                queues,
                Optional.of(quotas).filter(any -> automates),
                localWorkers,
                informers));
    made.register(operator);
    controllers = Optional.of(made);
  }

  private static Optional<ClusterProfileRules> profiles(Configuration configuration) {
    return configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_CLUSTER_PROFILE)
        ? Optional.of(new ClusterProfileRules(configuration.multiKueue().accessProviders()))
        : Optional.empty();
  }

  private static SentKinds kinds(Configuration configuration) {
    return SentKinds.of(
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS)
            ? configuration.multiKueue().externalFrameworks()
            : List.of(),
        configuration.featureGates().enabled(FeatureGate.MULTI_KUEUE_REMOTE_SPEC_SYNC));
  }

  private static Placement placement(Configuration configuration) {
    return new Placement(
        Dispatchers.of(
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
  private final class Recorded implements Told {

    private static final String MULTI_KUEUE = "MultiKueue";
    private final EventRecorder events;
    private final InstantSource clock;

    Recorded(EventRecorder events, InstantSource clock) {
      this.events = events;
      this.clock = clock;
    }

    /** It was switched off because its manager isn't heard of. */
    void fenced(Workload workload) {
      String origin = workload.labels().getOrDefault(Keys.MULTIKUEUE_ORIGIN, "");
      measured.ifPresent(it -> it.fenced(origin));
      said(
          workload,
          true,
          "Switched off: the manager that sent it was not heard of for as long as it allows");
    }

    @Override
    public void dispatched(Workload workload, String clusterQueue, String cluster) {
      measured.ifPresent(it -> it.dispatched(clusterQueue, cluster));
    }

    @Override
    public void admitted(Workload workload, String clusterQueue, String cluster) {
      Duration after = Duration.between(workload.createdAt(), clock.instant());
      measured.ifPresent(it -> it.admitted(clusterQueue, cluster, after));
    }

    @Override
    public void requeued(Workload workload, String clusterQueue, String cluster) {
      measured.ifPresent(it -> it.requeued(clusterQueue, cluster));
    }

    @Override
    public void said(Workload workload, boolean warning, String note) {
      events.record(
          new EventSubject(
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
