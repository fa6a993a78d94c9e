package dev.sluice.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.jobs.AdmissionCheckEvents;
import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.CachedJobLookups;
import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobOptions;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.KubernetesJobClient;
import dev.sluice.jobs.OwnerChainResolver;
import dev.sluice.jobs.RemoteExecutionCheck;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.jobs.batch.BatchJobController;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.statefulset.StatefulSetWorkloads;
import dev.sluice.kube.client.ApiPatcher;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.KubernetesEventSink;
import dev.sluice.kube.events.RecordedEventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.kube.reading.InformerSupervisor;
import dev.sluice.kube.reading.ReadErrorLog;
import dev.sluice.metrics.BuildInfo;
import dev.sluice.metrics.EventCounts;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.ReadErrorRecorder;
import dev.sluice.metrics.SchedulerMetrics;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.queues.QueueControllers;
import dev.sluice.queues.cache.AuxiliaryInformers;
import dev.sluice.queues.cache.CacheEventFeed;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.CachedRequiredChecks;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.queues.cache.QueueStateNotifier;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.webhooks.CachedClusterLookup;
import dev.sluice.workload.DecisionExecutor;
import dev.sluice.workload.KubernetesResourceContext;
import dev.sluice.workload.NewerVersionWaiter;
import dev.sluice.workload.PatchingWorkloadWriter;
import dev.sluice.workload.PendingReasonReporter;
import dev.sluice.workload.ReflectorOptions;
import dev.sluice.workload.WorkloadCache;
import dev.sluice.workload.WorkloadEventFeed;
import dev.sluice.workload.WorkloadParser;
import dev.sluice.workload.WorkloadReflector;
import dev.sluice.workload.WorkloadTranslator;
import dev.sluice.workload.lifecycle.WorkloadLifecycle;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator, put together by hand: every object is constructed here, in the order in which it is
 * read. It starts by listing the world, decides only while it leads, and ends when it is closed or
 * has lost its lease.
 */
public final class OperatorApplication implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OperatorApplication.class);
  private static final int ADMISSIONS_AT_A_TIME = 32;
  private static final int JOB_WRITES_AT_A_TIME = 16;
  private static final int QUEUE_WRITES_AT_A_TIME = 4;
  private static final Duration DRAIN = Duration.ofSeconds(10);

  /** How long a write that is to follow another one waits for that to be seen. */
  private static final Duration NEWS = Duration.ofSeconds(5);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Configuration configuration;
  private final KubernetesClient client;
  private final Consumer<String> end;
  private final CompletableFuture<Void> known = new CompletableFuture<>();
  private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();
  private final MetricsScrape metrics;
  private final InformerCaches informerCaches = InformerCaches.empty();
  private final PodIndex podIndex = new PodIndex();
  private final LocalClusters localClusters = new LocalClusters(informerCaches);
  private final InformerSupervisor kept = new InformerSupervisor();
  private final AuxiliaryInformers informers;
  private final KubernetesResourceContext resources;
  private final WorkloadReflector reader;
  private final PatchingWorkloadWriter writer;
  private final LeaseElector elector;
  private final SchedulerThread engine;
  private final CacheEventFeed cacheEventFeed;
  private final PendingReasonReporter advice;
  private final EventRecorder events;
  private final QueueControllers queues;
  private final WorkloadLifecycle lifecycle;
  private final Operator operator;
  private final MultiKueueModule workers;
  private final BatchJobController jobs;
  private final PodIntegrationModule pods;
  private final CachedClusterLookup facts;
  private final ServerModule servers;

  /**
   * An operator that is not started.
   *
   * @param faults what {@code client} could not read
   * @param metrics where everything is measured; closed with the operator
   * @param identity who this process is: unlike any other, past ones included
   * @param end is told, with the reason, when the process has to end: it has lost its lease, or
   *     failed in a way that only a new start can mend
   */
  public OperatorApplication(
      Configuration configuration,
      KubernetesClient client,
      ReadErrorLog faults,
      MetricsScrape metrics,
      InstantSource clock,
      String identity,
      Consumer<String> end) {
    this.configuration = configuration;
    this.client = client;
    this.metrics = metrics;
    this.end = end;

    OptionsFactory optionsFactory = new OptionsFactory(configuration);
    LeaseElector election = elector(clock, identity);
    this.elector = election;
    Leadership leadership =
        configuration.leaderElection().leaderElect() ? election : Leadership.alone();
    Supplier<ReplicaRole> role = () -> ReplicaRole.valueOf(leadership.role().name());

    // Workloads in
    WorkloadCache index = new WorkloadCache();
    WorkloadParser parser = new WorkloadParser();
    Random scatter = new Random(identity.hashCode());
    this.reader =
        new WorkloadReflector(
            client, parser, index, ReflectorOptions.DEFAULT, clock, scatter, faults);
    this.writer =
        new PatchingWorkloadWriter(
            client, parser, index::answered, ADMISSIONS_AT_A_TIME, clock, scatter);

    // the engine, and what carries its decisions out
    SchedulerMetrics cycles =
        new SchedulerMetrics(
            metrics.registry(),
            role,
            optionsFactory.on(FeatureGate.METRIC_FOR_WORKLOAD_CREATION_LATENCY),
            BuildInfo.ofThisProcess());
    this.events =
        new EventRecorder(
            new KubernetesEventSink(client),
            clock,
            identity,
            EventRecorder.Budget.DEFAULT,
            new EventCounts(metrics.registry(), role));
    faults.listen(new ReadErrorRecorder(metrics.registry(), events, role));
    DecisionRelay decisions = new DecisionRelay();
    this.engine =
        new SchedulerThread(
            optionsFactory.engine(),
            decisions,
            (nanos, admitted) -> cycles.cycleEnded(admitted, Duration.ofNanos(nanos)),
            clock,
            this::failed);
    WorkloadMetrics counts =
        new WorkloadMetricsFactory(configuration, metrics, engine.views(), role)
            .of(reader, informerCaches, clock);
    SchedulingEventRecorder told = new SchedulingEventRecorder(events, clock, counts::preempted);
    this.resources = new KubernetesResourceContext(client, kept);
    WorkloadTranslator translation =
        new WorkloadTranslator(resources, optionsFactory.translation(), localClusters::avoidedBy);
    WorkloadEventFeed feed = new WorkloadEventFeed(translation, index, engine);
    resources.listen(feed);
    localClusters.observe(feed::placesChanged);
    reader.listen(feed);
    NewerVersionWaiter news = new NewerVersionWaiter(index, NEWS);
    reader.listen(news);
    this.advice =
        new PendingReasonReporter(
            engine,
            index,
            writer,
            translation,
            ExplanationText::message,
            optionsFactory.readiness(),
            told,
            clock);
    engine.listen(advice);
    decisions.connect(
        new DecisionExecutor(
            index,
            writer,
            engine,
            new CachedRequiredChecks(informerCaches),
            optionsFactory.readiness(),
            advice,
            told,
            clock,
            background,
            news));

    // queues and what stands around them
    this.cacheEventFeed =
        new CacheEventFeed(informerCaches, engine, optionsFactory.ignoresUndeclared());
    this.informers = new AuxiliaryInformers(client, informerCaches, kept);
    this.queues =
        new QueueControllers(
            new QueueControllers.Dependencies(
                leadership,
                informerCaches,
                engine.views(),
                index,
                writer,
                new ApiPatcher(client, JSON, leadership, QUEUE_WRITES_AT_A_TIME),
                JSON,
                new RecordedEventNotifier(events),
                clock,
                QueueControllers.StatusRate.DEFAULT));
    engine.listen(queues.viewListener());
    reader.listen(queues.workloadListener());
    this.operator = KubernetesClients.framework(client, kept);
    queues.register(operator);
    this.workers =
        new MultiKueueModule(
            configuration,
            client,
            leadership,
            events,
            background,
            this::later,
            clock,
            operator,
            reader,
            writer,
            new MultiKueueControllers.Quotas(informerCaches, queues.quotaNotes(), queues::again),
            localClusters,
            new IndexedLocalPods(podIndex),
            kept);

    // the life cycle of Workloads
    this.lifecycle =
        new WorkloadLifecycle(
            index,
            writer,
            new CachedQueues(informerCaches),
            optionsFactory.lifecycle(),
            told,
            leadership::leading,
            clock,
            background,
            this::later);
    QueueStateNotifier.connect(informerCaches, lifecycle);
    reader.listen(lifecycle);

    // jobs
    JobOptions jobOptions = optionsFactory.jobs(this::namespaceLabels);
    IntegrationRegistry directory = new IntegrationRegistry();
    OwnerChainResolver ownerChainResolver = new OwnerChainResolver(jobOptions, index, directory);
    CachedJobLookups lookups = new CachedJobLookups(informerCaches, JSON);
    StatefulSetWorkloads statefulSetWorkloads =
        new StatefulSetWorkloads(index, jobOptions.longestWorkloadName());
    this.facts =
        new CachedClusterLookup(
            informerCaches,
            localClusters,
            (namespace, owner) ->
                ownerChainResolver.isManaged(
                    namespace,
                    new CachedJob.Controller(
                        owner.apiVersion(), owner.kind(), owner.name(), owner.uid())),
            (namespace, owner) ->
                statefulSetWorkloads.isInUse(namespace, owner.name(), owner.uid()),
            new OperatorIdentity(client, configuration.namespace()));
    var around =
        new JobReconciler.Dependencies(
            reader,
            writer,
            new KubernetesJobClient(client),
            lookups,
            lookups,
            new RecordedJobEvents(events),
            clock,
            kept);
    this.jobs =
        new BatchJobController(
            new JobReconciler(
                new BatchJob(),
                jobOptions,
                ownerChainResolver,
                RemoteExecutionCheck.whereMarked(
                    optionsFactory.manager(informerCaches), localClusters::isSent),
                around,
                JOB_WRITES_AT_A_TIME),
            ownerChainResolver,
            directory,
            around,
            background,
            leadership::leading);
    operator.register(jobs, jobs::configure);
    reader.listen(new AdmissionCheckEvents(BatchJob.KIND, around.events(), leadership::leading));

    this.pods =
        new PodIntegrationModule(
            optionsFactory,
            podIndex,
            new PodIntegrationModule.Dependencies(
                client,
                informerCaches,
                jobOptions,
                ownerChainResolver,
                directory,
                statefulSetWorkloads,
                around,
                background,
                this::later,
                leadership));

    // what people see
    workers.measure(metrics, role);
    this.servers = new ServerModule(configuration, clock, kept::alive);
  }

  private Map<String, String> namespaceLabels(String namespace) {
    return facts.namespaceLabels(namespace);
  }

  private void failed(Throwable fault) {
    LOG.error("engine failed", fault);
    end.accept("the engine failed");
  }

  /** Never earlier, which a delay cut to milliseconds would be. */
  private void later(Duration delay, Runnable task) {
    long millis = delay.toMillis() + 1;
    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, background).execute(task);
  }

  private LeaseElector elector(InstantSource clock, String identity) {
    return LeaderElectorFactory.elector(
        configuration,
        client,
        clock,
        identity,
        new Leadership.Listener() {
          @Override
          public void started() {
            background.execute(OperatorApplication.this::lead);
          }

          @Override
          public void lost() {
            engine.submit(new SchedulerEvent.DecidingEnabled(false));
            end.accept("the lease is lost");
          }
        });
  }

  /**
   * Starts: serves webhooks at once, lists the world, and takes part in the election.
   *
   * @param hosts names and addresses by which the API server reaches this process
   * @param clientAuthority PEM file of the authorities whose clients the webhooks answer about
   *     admission; everybody is answered without one
   * @throws IOException when an address can't be bound or the file can't be read
   */
  public void start(List<String> hosts, Optional<Path> clientAuthority)
      throws IOException, GeneralSecurityException {
    SyncedClusterLookup answers = new SyncedClusterLookup(facts, known);
    servers.start(client, answers, metrics, hosts, clientAuthority, reader.store(), engine);
    engine.start();
    CacheSyncWaiter cacheSyncWaiter =
        new CacheSyncWaiter(configuration.controller().cacheSyncTimeout());
    cacheSyncWaiter.await("namespaces and priority classes", informers.start());
    cacheSyncWaiter.await("limits and runtime classes", resources.start());
    operator.start();
    pods.start(cacheSyncWaiter);
    workers.start();
    cacheEventFeed.open();
    known.complete(null);
    cacheSyncWaiter.await("Workloads", reader.start());
    LOG.info("workloads={} world=listed", reader.store().size());
    if (configuration.leaderElection().leaderElect()) {
      elector.start();
    } else {
      lead();
    }
  }

  /**
   * Begins to decide: first of all everything has to be known that was committed before, by a
   * leader of the past too.
   */
  private void lead() {
    reader
        .caughtUp()
        .thenRun(
            () -> {
              engine.submit(new SchedulerEvent.DecidingEnabled(true));
              advice.start();
              queues.leadershipStarted();
              lifecycle.leadershipStarted();
              jobs.leadershipStarted();
              pods.leadershipStarted();
              workers.leadershipStarted();
              LOG.info("operator leading=true");
            })
        .exceptionally(
            fault -> {
              LOG.error("operator leading=false", fault);
              end.accept("leading could not begin");
              return null;
            });
  }

  /** Ends: nothing new is decided, writes in flight are waited for, the lease is given up. */
  @Override
  public void close() {
    engine.submit(new SchedulerEvent.DecidingEnabled(false));
    operator.stop();
    pods.close();
    engine.close();
    advice.close();
    writer.drain(DRAIN).join();
    elector.close();
    queues.close();
    workers.close();
    informers.close();
    resources.close();
    reader.close();
    events.close();
    servers.close();
    metrics.close();
    background.shutdownNow();
    client.close();
  }
}
