package dev.sluice;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.reading.Informers;
import dev.sluice.api.reading.ReadFaults;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.LeaseElector;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.RecordedNotices;
import dev.sluice.controllers.kinds.QueueControllers;
import dev.sluice.controllers.workload.WorkloadLifecycle;
import dev.sluice.controllers.workload.WorldChecks;
import dev.sluice.controllers.workload.WorldQueues;
import dev.sluice.controllers.world.LocalWorkers;
import dev.sluice.controllers.world.World;
import dev.sluice.controllers.world.WorldFacts;
import dev.sluice.controllers.world.WorldFeed;
import dev.sluice.controllers.world.WorldInformers;
import dev.sluice.controllers.world.WorldLookups;
import dev.sluice.engine.EngineLoop;
import dev.sluice.jobs.Ancestry;
import dev.sluice.jobs.CheckMessages;
import dev.sluice.jobs.Elsewhere;
import dev.sluice.jobs.JobDirectory;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.JobRules;
import dev.sluice.jobs.JobView;
import dev.sluice.jobs.KubernetesJobObjects;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.jobs.batch.BatchJobController;
import dev.sluice.jobs.pods.PodDirectory;
import dev.sluice.jobs.statefulset.SetWorkloads;
import dev.sluice.model.Fact;
import dev.sluice.observe.BuildInfo;
import dev.sluice.observe.EventCounts;
import dev.sluice.observe.EventRecorder;
import dev.sluice.observe.ExplanationText;
import dev.sluice.observe.KubernetesEventSink;
import dev.sluice.observe.MetricsScrape;
import dev.sluice.observe.ReadFaultRecords;
import dev.sluice.observe.ReplicaRole;
import dev.sluice.observe.SchedulerMetrics;
import dev.sluice.observe.WorkloadMetrics;
import dev.sluice.workloads.AdmissionWriter;
import dev.sluice.workloads.AdvicePump;
import dev.sluice.workloads.FactFeed;
import dev.sluice.workloads.KubernetesResourceContext;
import dev.sluice.workloads.PatchingWorkloadWriter;
import dev.sluice.workloads.ReaderSettings;
import dev.sluice.workloads.StreamingWorkloadReader;
import dev.sluice.workloads.WorkloadFacts;
import dev.sluice.workloads.WorkloadIndex;
import dev.sluice.workloads.WorkloadNews;
import dev.sluice.workloads.WorkloadParser;
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
public final class Sluice implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Sluice.class);
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
  private final World world = World.empty();
  private final PodDirectory podDirectory = new PodDirectory();
  private final LocalWorkers localWorkers = new LocalWorkers(world);
  private final Informers kept = new Informers();
  private final WorldInformers informers;
  private final KubernetesResourceContext resources;
  private final StreamingWorkloadReader reader;
  private final PatchingWorkloadWriter writer;
  private final LeaseElector elector;
  private final EngineLoop engine;
  private final WorldFeed worldFeed;
  private final AdvicePump advice;
  private final EventRecorder events;
  private final QueueControllers queues;
  private final WorkloadLifecycle lifecycle;
  private final Operator operator;
  private final WorkerClusters workers;
  private final BatchJobController jobs;
  private final ManagedPods pods;
  private final WorldFacts facts;
  private final WebServers servers;

  /**
   * An operator that is not started.
   *
   * @param faults what {@code client} could not read
   * @param metrics where everything is measured; closed with the operator
   * @param identity who this process is: unlike any other, past ones included
   * @param end is told, with the reason, when the process has to end: it has lost its lease, or
   *     failed in a way that only a new start can mend
   */
  public Sluice(
      Configuration configuration,
      KubernetesClient client,
      ReadFaults faults,
      MetricsScrape metrics,
      InstantSource clock,
      String identity,
      Consumer<String> end) {
    this.configuration = configuration;
    this.client = client;
    this.metrics = metrics;
    this.end = end;

    Rules rules = new Rules(configuration);
    LeaseElector election = elector(clock, identity);
    this.elector = election;
    Leadership leadership =
        configuration.leaderElection().leaderElect() ? election : Leadership.alone();
    Supplier<ReplicaRole> role = () -> ReplicaRole.valueOf(leadership.role().name());

    // Workloads in
    WorkloadIndex index = new WorkloadIndex();
    WorkloadParser parser = new WorkloadParser();
    Random scatter = new Random(identity.hashCode());
    this.reader =
        new StreamingWorkloadReader(
            client, parser, index, ReaderSettings.DEFAULT, clock, scatter, faults);
    this.writer =
        new PatchingWorkloadWriter(
            client, parser, index::answered, ADMISSIONS_AT_A_TIME, clock, scatter);

    // the engine, and what carries its decisions out
    SchedulerMetrics cycles =
        new SchedulerMetrics(
            metrics.registry(),
            role,
            rules.on(FeatureGate.METRIC_FOR_WORKLOAD_CREATION_LATENCY),
            BuildInfo.ofThisProcess());
    this.events =
        new EventRecorder(
            new KubernetesEventSink(client),
            clock,
            identity,
            EventRecorder.Budget.DEFAULT,
            new EventCounts(metrics.registry(), role));
    faults.listen(new ReadFaultRecords(metrics.registry(), events, role));
    DecisionSwitch decisions = new DecisionSwitch();
    this.engine =
        new EngineLoop(
            rules.engine(),
            decisions,
            (nanos, admitted) -> cycles.cycleEnded(admitted, Duration.ofNanos(nanos)),
            clock,
            this::failed);
    WorkloadMetrics counts =
        new Measures(configuration, metrics, engine.views(), role).of(reader, world, clock);
    DecisionEvents told = new DecisionEvents(events, clock, counts::preempted);
    this.resources = new KubernetesResourceContext(client, kept);
    WorkloadFacts translation =
        new WorkloadFacts(resources, rules.translation(), localWorkers::avoidedBy);
    FactFeed feed = new FactFeed(translation, index, engine);
    resources.listen(feed);
    localWorkers.observe(feed::placesChanged);
    reader.listen(feed);
    WorkloadNews news = new WorkloadNews(index, NEWS);
    reader.listen(news);
    this.advice =
        new AdvicePump(
            engine,
            index,
            writer,
            translation,
            ExplanationText::message,
            rules.readiness(),
            told,
            clock);
    engine.listen(advice);
    decisions.to(
        new AdmissionWriter(
            index,
            writer,
            engine,
            new WorldChecks(world),
            rules.readiness(),
            advice,
            told,
            clock,
            background,
            news));

    // queues and what stands around them
    this.worldFeed = new WorldFeed(world, engine, rules.ignoresUndeclared());
    this.informers = new WorldInformers(client, world, kept);
    this.queues =
        new QueueControllers(
            new QueueControllers.Parts(
                leadership,
                world,
                engine.views(),
                index,
                writer,
                new MergePatches(client, JSON, leadership, QUEUE_WRITES_AT_A_TIME),
                JSON,
                new RecordedNotices(events),
                clock,
                QueueControllers.Pace.DEFAULT));
    engine.listen(queues.viewListener());
    reader.listen(queues.workloadListener());
    this.operator = Clients.framework(client, kept);
    queues.register(operator);
    this.workers =
        new WorkerClusters(
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
            new MultiKueueControllers.Quotas(world, queues.quotaNotes(), queues::again),
            localWorkers,
            new KnownPods(podDirectory),
            kept);

    // the life cycle of Workloads
    this.lifecycle =
        new WorkloadLifecycle(
            index,
            writer,
            new WorldQueues(world),
            rules.lifecycle(),
            told,
            leadership::leading,
            clock,
            background,
            this::later);
    lifecycle.observe(world);
    reader.listen(lifecycle);

    // jobs
    JobRules jobRules = rules.jobs(this::namespaceLabels);
    JobDirectory directory = new JobDirectory();
    Ancestry ancestry = new Ancestry(jobRules, index, directory);
    WorldLookups lookups = new WorldLookups(world, JSON);
    SetWorkloads setWorkloads = new SetWorkloads(index, jobRules.longestWorkloadName());
    this.facts =
        new WorldFacts(
            world,
            localWorkers,
            (namespace, owner) ->
                ancestry.isManaged(
                    namespace,
                    new JobView.Controller(
                        owner.apiVersion(), owner.kind(), owner.name(), owner.uid())),
            (namespace, owner) -> setWorkloads.isInUse(namespace, owner.name(), owner.uid()),
            new OwnName(client, configuration.namespace()));
    var around =
        new JobReconciler.Surroundings(
            reader,
            writer,
            new KubernetesJobObjects(client),
            lookups,
            lookups,
            new JobEventRecords(events),
            clock,
            kept);
    this.jobs =
        new BatchJobController(
            new JobReconciler(
                new BatchJob(),
                jobRules,
                ancestry,
                Elsewhere.whereMarked(rules.manager(world), localWorkers::isSent),
                around,
                JOB_WRITES_AT_A_TIME),
            ancestry,
            directory,
            around,
            background,
            leadership::leading);
    operator.register(jobs, jobs::configure);
    reader.listen(new CheckMessages(BatchJob.KIND, around.events(), leadership::leading));

    this.pods =
        new ManagedPods(
            rules,
            podDirectory,
            new ManagedPods.Parts(
                client,
                world,
                jobRules,
                ancestry,
                directory,
                setWorkloads,
                around,
                background,
                this::later,
                leadership));

    // what people see
    workers.measure(metrics, role);
    this.servers = new WebServers(configuration, clock, kept::alive);
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
    return Elections.elector(
        configuration,
        client,
        clock,
        identity,
        new Leadership.Listener() {
          @Override
          public void started() {
            background.execute(Sluice.this::lead);
          }

          @Override
          public void lost() {
            engine.submit(new Fact.DecidingEnabled(false));
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
    AwaitedFacts answers = new AwaitedFacts(facts, known);
    servers.start(client, answers, metrics, hosts, clientAuthority, reader.store(), engine);
    engine.start();
    Listings listings = new Listings(configuration.controller().cacheSyncTimeout());
    listings.await("namespaces and priority classes", informers.start());
    listings.await("limits and runtime classes", resources.start());
    operator.start();
    pods.start(listings);
    workers.start();
    worldFeed.open();
    known.complete(null);
    listings.await("Workloads", reader.start());
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
              engine.submit(new Fact.DecidingEnabled(true));
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
    engine.submit(new Fact.DecidingEnabled(false));
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
