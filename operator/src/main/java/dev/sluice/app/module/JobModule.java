package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.Configuration.PodAccounting;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.jobs.controller.CachedJobLookups;
import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.controller.JobClient.KubernetesJobClient;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobControllers;
import dev.sluice.jobs.controller.JobEvents;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.controller.OwnerlessWorkloads;
import dev.sluice.jobs.controller.PodGroupIndex;
import dev.sluice.jobs.controller.RemoteExecutionLookup;
import dev.sluice.jobs.controller.WorkloadPreview;
import dev.sluice.jobs.kind.AddedKinds;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.statefulset.StatefulSetWorkloads;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobIntake;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobOptions.ClusterState;
import dev.sluice.jobs.policy.NativePodGroups;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.kube.client.OwnUser;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kubequeue.CachedJobIntake;
import dev.sluice.kubequeue.ForeignQueueUnit;
import dev.sluice.kubequeue.ForeignUnitSteering;
import dev.sluice.kubequeue.QueueUnitMirror;
import dev.sluice.queues.cache.CachedCheckLabels;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.CachedRunTimeRules;
import dev.sluice.queues.cache.CachedStartRules;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.webhooks.kinds.CachedClusterLookup;
import dev.sluice.webhooks.kinds.ComposedWorkloadValidation;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.ClusterLookup.QueueUse;
import dev.sluice.webhooks.rules.WebhookSettings;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The controllers of all kinds of jobs that the configuration enables. */
public final class JobModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(JobModule.class);

  /** Every request of a controller ends within a minute, and one reconciliation makes a few. */
  private static final Duration STUCK_AFTER = Duration.ofMinutes(10);

  /** How many QueueUnits are written at the same time. */
  private static final int UNITS_AT_A_TIME = 2;

  /** Kinds of jobs for which no webhook is registered. */
  private static final Set<JobKind> UNJUDGED =
      Stream.concat(
              BuiltInIntegrations.ofKubeQueue(InstantSource.system()).stream()
                  .map(Integration::kind),
              Stream.of(ForeignQueueUnit.KIND))
          .collect(Collectors.toUnmodifiableSet());

  private final OperatorContext context;
  private final InformerModule informers;
  private final MetricsModule metrics;
  private final JobOptions options;
  private final OwnerChainResolver owners;
  private final CachedClusterLookup clusterLookup;
  private final ServedDefinitions definitions;
  private final JobControllers controllers;
  private final WorkloadPreview preview;
  private final OwnerlessWorkloads ownerless;
  private final Optional<QueueUnitMirror> mirror;
  private final Optional<ForeignUnitSteering> steering;
  private final Optional<PodGroupIndex> podGroupIndex;

  private CompletableFuture<Void> podGroupsListed = CompletableFuture.completedFuture(null);
  private CompletableFuture<Void> definitionsListed = new CompletableFuture<>();
  private CompletableFuture<Map<String, CompletableFuture<Void>>> kindsBegun =
      definitionsListed.thenApply(any -> Map.of());

  /** Jobs are not acted on before the Workload cache has what the previous leader wrote. */
  private volatile boolean started;

  /**
   * Connected to the Workloads that {@code workloads} reads.
   *
   * @param podIndex filled by the controller of pods after the start
   */
  public JobModule(
      OperatorContext context,
      InformerModule informers,
      WorkloadModule workloads,
      MetricsModule metrics,
      PodIndex podIndex,
      AccountingModule accounting) {
    this.context = context;
    this.metrics = metrics;
    this.informers = informers;
    podGroupIndex =
        context.isEnabled(FeatureGate.WAS_POD_GROUPS)
            ? Optional.of(new PodGroupIndex(context.reflectors()))
            : Optional.empty();
    CachedRunTimeRules runTimeRules = new CachedRunTimeRules(informers.caches());
    options =
        context
            .options()
            .jobs(this::namespaceLabels)
            .with(
                new ClusterState(
                        new CachedStartRules(informers.caches()),
                        new CachedCheckLabels(informers.caches()),
                        job -> accounting.running(job.namespace(), job.uid()),
                        context.configuration().podAccounting() == PodAccounting.PREVENT,
                        runTimeRules::maxRunTime)
                    .withPodGroups(() -> podGroupIndex.flatMap(PodGroupIndex::version))
                    .with(this::refusal));
    IntegrationRegistry registry = registry(context, podIndex);
    accounting.whenEmpty(this::enqueueJob);
    owners = new OwnerChainResolver(options, workloads.cache(), registry, accounting.enabled());
    accounting.follow(registry, owners);
    StatefulSetWorkloads statefulSetWorkloads =
        new StatefulSetWorkloads(workloads.cache(), options.longestWorkloadName());
    clusterLookup =
        new CachedClusterLookup(
            informers.caches(),
            informers.localClusters(),
            new KnownJobs(registry, owners, statefulSetWorkloads, workloads.cache(), podGroupIndex),
            new OperatorIdentity(context.client(), context.configuration().namespace()),
            accounting.lookup());
    JobControllerContext controllerContext = controllerContext(registry, workloads);
    definitions = new ServedDefinitions(context.reflectors());
    ownerless =
        new OwnerlessWorkloads(
            controllerContext.dependencies(),
            controllerContext.queue(JobKind.WORKLOAD),
            controllerContext.leading(),
            (namespace, owner) -> isCached(registry, podIndex, namespace, owner),
            new AttendedKinds(context)::isExternal);
    controllers = new JobControllers(controllerContext, definitions::serves, ownerless::check);
    definitions.observe(controllers::definitionChanged);
    preview = new WorkloadPreview(controllerContext);
    RunTimeLimitObserver.connect(informers.caches(), workloads.cache(), this::enqueueJob);
    mirror = mirror(registry, workloads);
    mirror.ifPresent(workloads.reflector()::listen);
    steering = steering(registry, workloads);
    steering.ifPresent(workloads.reflector()::listen);
  }

  /**
   * The job of a Workload has no pods any more, which may be what it waits for, or its queue has
   * another limit.
   */
  private void enqueueJob(CachedWorkload workload) {
    workload
        .owner()
        .ifPresent(
            owner ->
                controllers.enqueue(
                    owner.apiVersion(),
                    owner.kind(),
                    new ObjectKey(workload.id().namespace(), owner.name())));
  }

  private static IntegrationRegistry registry(OperatorContext context, PodIndex podIndex) {
    List<Integration> integrations = new ArrayList<>(BuiltInIntegrations.all(podIndex));
    AddedKinds.of(context.configuration()).stream().map(Integration::of).forEach(integrations::add);
    List<String> frameworks = new ArrayList<>(context.configuration().integrations().frameworks());
    List<JobKind> external =
        context.configuration().integrations().externalFrameworks().stream()
            .map(JobKind::parse)
            .toList();
    if (context.configuration().kubeQueue().enabled()) {
      BuiltInIntegrations.ofKubeQueue(context.clock())
          .forEach(
              entry -> {
                integrations.add(entry);
                frameworks.add(entry.kind().framework());
              });
      IntegrationRegistry jobs =
          IntegrationRegistry.of(integrations, frameworks, external, context::isEnabled);
      integrations.add(
          Integration.of(new ForeignQueueUnit(unitsOf(context, jobs), context.clock())));
      frameworks.add(ForeignQueueUnit.KIND.framework());
    }
    return IntegrationRegistry.of(integrations, frameworks, external, context::isEnabled);
  }

  /** Whether units of jobs of a kind are left alone; they are watched in any case. */
  private static BiPredicate<String, String> unitsOf(
      OperatorContext context, IntegrationRegistry jobs) {
    return AttendedKinds.acceptsUnits(context.configuration())
        ? jobs::covers
        : (apiVersion, kind) -> true;
  }

  private static boolean isCached(
      IntegrationRegistry registry,
      PodIndex podIndex,
      String namespace,
      CachedWorkload.Owner owner) {
    return registry.find(namespace, CachedJob.Controller.of(owner)).isPresent()
        || podIndex
            .find(namespace, owner.name())
            .filter(pod -> pod.job().ref().uid().equals(owner.uid()))
            .isPresent();
  }

  private JobControllerContext controllerContext(
      IntegrationRegistry registry, WorkloadModule workloads) {
    CachedJobLookups lookups = new CachedJobLookups(informers.caches(), JsonMappers.JSON);
    return new JobControllerContext(
        context.reflectors(),
        options,
        registry,
        owners,
        RemoteExecutionCheck.whereMarked(
            context.options().manager(informers.caches()), informers.localClusters()::isSent),
        new RemoteExecutionLookup(informers.caches()),
        intake(),
        new JobReconciler.Dependencies(
            workloads.reflector(),
            workloads.writer(),
            new KubernetesJobClient(context.requests(Integer.MAX_VALUE)),
            lookups,
            lookups,
            new RecordedJobEvents(context.events(), metrics),
            context.clock(),
            new ComposedWorkloadValidation(WebhookSettings.of(context.configuration())),
            context.latency()::share),
        context.workQueues(),
        () -> started && context.leadership().leading());
  }

  private JobIntake intake() {
    KubeQueue kubeQueue = context.configuration().kubeQueue();
    return kubeQueue.enabled()
        ? new CachedJobIntake(
            kubeQueue,
            informers.caches(),
            context.requests(1),
            task -> context.schedule(CachedJobIntake.BETWEEN_TRIES, task))
        : JobIntake.NONE;
  }

  private Optional<QueueUnitMirror> mirror(IntegrationRegistry registry, WorkloadModule workloads) {
    KubeQueue kubeQueue = context.configuration().kubeQueue();
    return kubeQueue.enabled() && kubeQueue.units().own() == KubeQueue.OwnUnits.MIRROR
        ? Optional.of(
            new QueueUnitMirror(
                new QueueUnitMirror.Dependencies(
                    workloads.cache(),
                    workloads.writer(),
                    informers.caches(),
                    registry,
                    context.requests(UNITS_AT_A_TIME),
                    context.events(),
                    context.workQueue(JobKind.WORKLOAD),
                    () -> started && context.leadership().leading())))
        : Optional.empty();
  }

  private Optional<ForeignUnitSteering> steering(
      IntegrationRegistry registry, WorkloadModule workloads) {
    return AttendedKinds.acceptsUnits(context.configuration())
        ? Optional.of(
            new ForeignUnitSteering(
                new ForeignUnitSteering.Dependencies(
                    workloads.cache(),
                    workloads.writer(),
                    informers.caches(),
                    registry,
                    context.requests(1),
                    context.events(),
                    context.workQueue(ForeignQueueUnit.KIND),
                    () -> started && context.leadership().leading())))
        : Optional.empty();
  }

  /**
   * Kinds of Kube Queue are registered with no webhook: nobody knows who names something in them.
   */
  private Optional<String> refusal(JobRef job, String queue, String priorityClass) {
    if (!UNJUDGED.contains(job.kind())) {
      return Optional.empty();
    }
    return Stream.of(
            restricted(
                clusterLookup.allowedInQueue(job.namespace(), queue),
                "LocalQueue " + job.namespace() + "/" + queue),
            restricted(
                clusterLookup.allowedInPriorityClass(priorityClass),
                "WorkloadPriorityClass " + priorityClass))
        .flatMap(Optional::stream)
        .map(
            what ->
                "not everybody may use %s, and nobody judges who names it in a %s"
                    .formatted(what, job.kind().kind()))
        .findFirst();
  }

  private static Optional<String> restricted(AllowedSubjects allowed, String what) {
    return allowed.isRestricted() ? Optional.of(what) : Optional.empty();
  }

  private Map<String, String> namespaceLabels(String namespace) {
    return clusterLookup.namespaceLabels(namespace);
  }

  /** Answers what webhooks ask about jobs. */
  private record KnownJobs(
      IntegrationRegistry registry,
      OwnerChainResolver owners,
      StatefulSetWorkloads statefulSets,
      WorkloadLister workloads,
      Optional<PodGroupIndex> podGroupIndex)
      implements CachedClusterLookup.Jobs {

    private static final String CLASS_KIND = "WorkloadPriorityClass";

    private static CachedJob.Controller controller(ClusterLookup.Owner owner) {
      return new CachedJob.Controller(owner.apiVersion(), owner.kind(), owner.name(), owner.uid());
    }

    @Override
    public boolean isManaged(String namespace, ClusterLookup.Owner owner) {
      return owners.isManaged(namespace, controller(owner));
    }

    @Override
    public JsonNode resolved(JobKind kind, JsonNode job) {
      return registry.resolved(kind, job);
    }

    @Override
    public boolean isInUse(String namespace, ClusterLookup.Owner owner) {
      return StatefulSets.KIND.is(owner.apiVersion(), owner.kind())
          ? statefulSets.isInUse(namespace, owner.name(), owner.uid())
          : StreamSupport.stream(workloads.inNamespace(namespace).spliterator(), false)
              .filter(each -> each.owners().anyMatch(it -> it.uid().equals(owner.uid())))
              .anyMatch(each -> !each.finished() && !WorkloadStatuses.isOnHold(each));
    }

    @Override
    public boolean isBeingEvicted(String namespace, ClusterLookup.Owner owner) {
      return workloads.ownedBy(owner.uid()).stream()
          .filter(workload -> workload.id().namespace().equals(namespace))
          .anyMatch(each -> each.evicted() && each.quotaReserved() && !each.finished());
    }

    @Override
    public Optional<QueueUse> useOfWorkload(String namespace, String name) {
      return workloads
          .get(namespace, name)
          .map(CachedWorkload::spec)
          .map(
              spec ->
                  new QueueUse(
                      spec.queueName(),
                      spec.priorityClass()
                          .filter(reference -> reference.kind().equals(CLASS_KIND))
                          .map(CachedWorkload.PriorityClassRef::name)
                          .orElse("")));
    }

    @Override
    public boolean hasUse(String namespace, ClusterLookup.Owner owner, QueueUse queueUse) {
      return owners.names(namespace, controller(owner), queueUse.queue(), queueUse.priorityClass());
    }

    @Override
    public boolean isScheduledPodGroup(String namespace, String podGroup) {
      return podGroupIndex.filter(index -> index.isScheduled(namespace, podGroup)).isPresent();
    }
  }

  /** What webhooks know of the cluster, as far as it is listed. */
  public ClusterLookup clusterLookup() {
    return clusterLookup;
  }

  /** What Workload a job would get. */
  WorkloadPreview preview() {
    return preview;
  }

  /** Which kinds the API server serves; started by whoever first needs to know. */
  public ServedDefinitions definitions() {
    return definitions;
  }

  /**
   * Begins the listings: of definitions if kinds depend on them, then of all kinds that are served.
   * Returns at once. To be called before the start.
   */
  public void beginListing() {
    podGroupIndex.ifPresent(index -> podGroupsListed = index.start(context.executor()));
    definitionsListed =
        controllers.dependOnDefinitions()
            ? definitions.start()
            : CompletableFuture.completedFuture(null);
    kindsBegun = definitionsListed.thenApplyAsync(any -> controllers.start(), context.executor());
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    cacheSync.await("customresourcedefinitions", definitionsListed);
    cacheSync.await(NativePodGroups.PLURAL, podGroupsListed);
    Map<String, CompletableFuture<Void>> listings = kindsBegun.join();
    List<JobKind> absent = controllers.absent();
    if (!absent.isEmpty()) {
      LOG.warn(
          "integrations: not installed in the cluster, so that jobs are managed from the"
              + " moment that the definitions are: {}",
          absent.stream().map(JobKind::definition).collect(Collectors.joining(", ")));
    }
    for (var listing : listings.entrySet()) {
      cacheSync.await(listing.getKey(), listing.getValue());
    }
  }

  @Override
  public void leadershipStarted() {
    started = true;
    controllers.leadershipStarted();
    mirror.ifPresent(QueueUnitMirror::enqueueAll);
    steering.ifPresent(ForeignUnitSteering::enqueueAll);
    ownerless.leadershipStarted();
  }

  /** Whether no controller has been at one object for longer than {@link #STUCK_AFTER}. */
  public boolean alive() {
    return controllers.longestHandling().compareTo(STUCK_AFTER) < 0;
  }

  @Override
  public void leadershipEnded() {
    started = false;
  }

  /** Closes all controllers at once: each waits for its writes for a limited time. */
  @Override
  public void stop() {
    // No controller is made any more, and one that is being made is closed below.
    definitionsListed.cancel(false);
    kindsBegun.exceptionally(failure -> Map.of()).join();
    definitions.close();
    controllers.close(context.executor());
    ownerless.close();
    podGroupIndex.ifPresent(PodGroupIndex::close);
    mirror.ifPresent(QueueUnitMirror::close);
    steering.ifPresent(ForeignUnitSteering::close);
  }

  /**
   * Knows the operator among the users of the API server, by the name that the API server gives to
   * this process. The answer is remembered. While it can't be had, any service account of the
   * operator's namespace passes for the operator.
   */
  private static final class OperatorIdentity implements Predicate<String> {

    private final KubernetesClient client;
    private final String accounts;
    private volatile Optional<String> known = Optional.empty();

    /** Nothing is asked yet. */
    OperatorIdentity(KubernetesClient client, String namespace) {
      this.client = client;
      this.accounts = "system:serviceaccount:" + namespace + ":";
    }

    @Override
    public boolean test(String user) {
      Optional<String> name = known.or(() -> OwnUser.of(client));
      known = name;
      return name.map(user::equals).orElseGet(() -> user.startsWith(accounts));
    }
  }

  /** Events about jobs, by way of the recorder, and what is measured of jobs. */
  private static final class RecordedJobEvents implements JobEvents {

    private static final String ACTION = "Reconcile";

    private final EventRecorder events;
    private final MetricsModule metrics;

    RecordedJobEvents(EventRecorder events, MetricsModule metrics) {
      this.events = events;
      this.metrics = metrics;
    }

    @Override
    public void workloadCreated(JobRef job, String localQueue, Duration sinceJobCreation) {
      metrics.recordWorkloadCreation(
          job.kind().kind(), new LocalQueueId(job.namespace(), localQueue), sinceJobCreation);
    }

    @Override
    public void gateRemoved(CachedWorkload workload, String gate) {
      metrics.recordGateRemoval(workload, gate);
    }

    @Override
    public void normal(JobRef job, String reason, String note) {
      events.record(subject(job), EventRecorder.Type.NORMAL, reason, ACTION, note);
    }

    @Override
    public void warning(JobRef job, String reason, String note) {
      events.record(subject(job), EventRecorder.Type.WARNING, reason, ACTION, note);
    }

    private static ObjectReference subject(JobRef job) {
      return new ObjectReference(
          job.kind().apiVersion(), job.kind().kind(), job.namespace(), job.name(), job.uid());
    }
  }

  /** Tells of the Workloads that wait in a queue when the longest run time of the queue changes. */
  static final class RunTimeLimitObserver {

    private final InformerCaches caches;
    private final WorkloadLister workloads;
    private final Consumer<CachedWorkload> observer;

    private RunTimeLimitObserver(
        InformerCaches caches, WorkloadLister workloads, Consumer<CachedWorkload> observer) {
      this.caches = caches;
      this.workloads = workloads;
      this.observer = observer;
    }

    /** From now on the observer is told. */
    static void connect(
        InformerCaches caches, WorkloadLister workloads, Consumer<CachedWorkload> observer) {
      RunTimeLimitObserver told = new RunTimeLimitObserver(caches, workloads, observer);
      caches
          .localQueues()
          .observe(
              (before, after) -> {
                if (after != null && !limit(before).equals(limit(after))) {
                  told.changed(after);
                }
              });
      caches
          .clusterQueues()
          .observe(
              (before, after) -> {
                if (after != null && !limit(before).equals(limit(after))) {
                  told.changedCluster(after.getMetadata().getName());
                }
              });
    }

    private static Optional<Duration> limit(@Nullable HasMetadata queue) {
      return queue == null
          ? Optional.empty()
          : RunTimeAnnotations.maxOf(queue.getMetadata().getAnnotations());
    }

    private void changedCluster(String clusterQueue) {
      caches.localQueues().all().stream()
          .filter(queue -> CachedQueues.clusterQueue(queue).equals(clusterQueue))
          .forEach(this::changed);
    }

    private void changed(LocalQueue queue) {
      workloads.inQueue(queue.getMetadata().getNamespace(), queue.getMetadata().getName()).stream()
          .filter(workload -> !workload.quotaReserved() && !workload.finished())
          .forEach(observer);
    }
  }
}
