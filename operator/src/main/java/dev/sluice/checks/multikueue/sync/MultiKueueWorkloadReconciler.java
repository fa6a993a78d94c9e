package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.capacity.CapacityEstimator;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PlacementPlan;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.PlacementPlanner.GroupLimits;
import dev.sluice.checks.multikueue.sync.PlacementPlanner.LimitedCandidates;
import dev.sluice.checks.multikueue.sync.ReconcileState.MessageThrottle;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ConflictBackoff;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.lifecycle.CheckedAdmission;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.record.WorkloadReader;
import dev.sluice.workload.writing.DecisionExecutor.FirstNomination;
import dev.sluice.workload.writing.WorkloadWriter;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles a Workload when something about it changed, in the manager or in a worker, and when
 * its plan requests it; executes the plan. Each Workload is reconciled by one thread at a time.
 */
public final class MultiKueueWorkloadReconciler implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(MultiKueueWorkloadReconciler.class);
  private static final Duration RETRY_DELAY = Duration.ofSeconds(2);
  private static final Duration LONG_DELAY = Duration.ofSeconds(30);

  private final RemoteConnections connections;
  private final ClusterSelector clusterSelector;
  private final Leadership leadership;
  private final ConnectionContext connectionContext;
  private final Options options;
  private final WorkloadLister workloads;
  private final ActionExecutor actionExecutor;
  private final RemoteJobInformers jobs;
  private final WorkloadStateReader workloadStateReader;
  private final PlacementPlanner placementPlanner;
  private final LeaseHeartbeat leaseHeartbeat;
  private final OrphanCollector orphanCollector;
  private final WorkQueue<Key> queue;

  /** What is kept of each Workload that uses workers. */
  private final Map<Key, ReconcileState> reconcileStates = new ConcurrentHashMap<>();

  private final JobGroups jobGroups;
  private final ElasticSlices elasticSlices;
  private final GroupLimits groupLimits;
  private final OrphanTurns orphanTurns = new OrphanTurns();
  private final ConflictBackoff<Key> conflictBackoff = new ConflictBackoff<>();
  private volatile boolean open;
  private volatile Instant leadingSince = Instant.MAX;

  /**
   * Options and dependencies.
   *
   * @param reader reader of the manager's Workloads, not started yet
   * @param writer writer of the manager's Workloads
   * @param workloadPlacement decides the placement
   * @param originLabel recognises objects of this manager
   * @param kinds the kinds that can be dispatched
   * @param gcInterval interval of the search for orphans in workers; zero: never
   * @param fence Lease that makes workers stop Workloads which may run elsewhere
   * @param capacityEstimator estimates which workers have free quota
   * @param localClusters where this cluster is also a worker
   * @param localPods the pods in this cluster
   * @param dispatchListener listener for dispatch events
   * @param checkedAdmission admits Workloads whose check is Ready
   * @param awaitsPods whether somebody waits for the pods of a Workload to be ready
   * @param orchestrated whether workers may preempt only after the manager opened their gate
   */
  public record Options(
      WorkloadReader reader,
      WorkloadWriter writer,
      WorkloadPlacement workloadPlacement,
      OriginLabel originLabel,
      MultiKueueKinds kinds,
      Duration gcInterval,
      LeaseHeartbeat.Fence fence,
      CapacityEstimator capacityEstimator,
      LocalClusters localClusters,
      LocalPods localPods,
      DispatchListener dispatchListener,
      CheckedAdmission checkedAdmission,
      Predicate<CachedWorkload> awaitsPods,
      boolean orchestrated) {}

  /** Creates a reconciler that does nothing before {@link #leadershipStarted}. */
  public MultiKueueWorkloadReconciler(
      ApiClient manager,
      RemoteConnections connections,
      ClusterSelector clusterSelector,
      Leadership leadership,
      ConnectionContext connectionContext,
      Options options) {
    this.connections = connections;
    this.clusterSelector = clusterSelector;
    this.leadership = leadership;
    this.connectionContext = connectionContext;
    this.options = options;
    this.workloads = options.reader().store();
    this.queue = new WorkQueue<>(this::reconcileOrForget, settings(connectionContext));
    RemoteClients remoteClients =
        new RemoteClients(
            connections::worker, connectionContext.writes(), connectionContext.limiter());
    this.leaseHeartbeat =
        new LeaseHeartbeat(
            options.fence(),
            options.originLabel().origin(),
            remoteClients,
            connections,
            connectionContext,
            () -> open && leadership.leading());
    this.jobs =
        new RemoteJobInformers(
            options.originLabel(),
            options.kinds(),
            remoteClients,
            connectionContext,
            new RemoteJobEvents());
    this.jobGroups = new JobGroups(workloads);
    this.elasticSlices = new ElasticSlices(workloads);
    RemoteClient managerClient = new RemoteClient(manager);
    this.actionExecutor =
        new ActionExecutor(
            managerClient,
            remoteClients,
            options.writer(),
            options.originLabel(),
            leaseHeartbeat,
            options.dispatchListener(),
            options.checkedAdmission(),
            options.awaitsPods(),
            new PodStatusSync.Pods(options.localPods(), jobs),
            jobs,
            jobGroups,
            elasticSlices,
            options.orchestrated());
    this.workloadStateReader =
        new WorkloadStateReader(
            connections, managerClient, options.capacityEstimator(), options.localClusters());
    this.groupLimits = new GroupLimits(jobGroups, workloadStateReader);
    this.placementPlanner = new PlacementPlanner(options.workloadPlacement(), workloadStateReader);
    this.orphanCollector =
        new OrphanCollector(
            OrphanCollector.workers(
                connections, workloadStateReader, jobs, jobGroups, actionExecutor),
            workloads,
            leadership::leading,
            connectionContext.io(),
            this::enqueue);
    options.reader().listen(this);
    options.localPods().observe((namespace, group) -> enqueueIfKnown(new Key(namespace, group)));
  }

  /** Every Workload has a worker of its own: one waits for clusters that others don't need. */
  private static WorkQueueSettings settings(ConnectionContext connectionContext) {
    return new WorkQueueSettings(
        connectionContext.io(),
        connectionContext.delays()::after,
        () -> Duration.between(Instant.EPOCH, connectionContext.clock().instant()).toNanos(),
        Integer.MAX_VALUE,
        RETRY_DELAY,
        LONG_DELAY,
        GroupKindConcurrency.NONE);
  }

  /** Nominates workers for a Workload in the write that reserves its quota. */
  public FirstNomination firstNomination() {
    return new FirstNominator(
        options.workloadPlacement().dispatcher(),
        options.kinds(),
        context ->
            withoutUnservedKind(context, workloadStateReader.candidates(context, clusterSelector)),
        workloadStateReader::connected,
        elasticSlices);
  }

  /** Called when this process becomes leader: reconciles everything once. */
  public void leadershipStarted() {
    leadingSince = connectionContext.clock().instant();
    open = true;
    leaseHeartbeat.start();
    workloads.all().forEach(workload -> changed(null, workload));
    collectOrphans();
  }

  /** Called when this process ends or doesn't lead any more: begins no reconciliation. */
  public void leadershipEnded() {
    open = false;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    List<Key> concerned = jobGroups.changed(before, after);
    CachedWorkload either = after == null ? before : after;
    if (either != null && open) {
      Key key = new Key(either.id().namespace(), either.id().name());
      if (reconcileStates.containsKey(key)
          || check(either).isPresent()
          || !workloadStateReader.copies(key).isEmpty()) {
        enqueue(key);
      }
      concerned.forEach(this::enqueueIfKnown);
    }
  }

  /** Called when a worker was connected or disconnected. */
  public void connectionChanged(String cluster) {
    jobs.follow(cluster, () -> connections.reader(cluster));
    enqueueAll();
    connections.workloads(cluster).ifPresent(objects -> objects.keys().forEach(this::enqueue));
  }

  /** Whom to tell of what is sent to workers, and of what comes from there. */
  public DispatchListener dispatchListener() {
    return options.dispatchListener();
  }

  /** The value by which the copies of a job's Workloads are found in a worker's Workloads. */
  public static String index(JsonNode copy) {
    return JobGroups.job(copy).map(JobGroups.GroupedJob::toString).orElse("");
  }

  /** Enqueues all Workloads that use workers. */
  public void enqueueAll() {
    reconcileStates.keySet().forEach(this::enqueue);
  }

  /** Enqueues a Workload; it is reconciled soon, on another thread. */
  public void enqueue(Key key) {
    if (open) {
      queue.enqueue(key);
    }
  }

  private void enqueueIfKnown(Key key) {
    if (reconcileStates.containsKey(key)) {
      enqueue(key);
    }
  }

  private Optional<Duration> reconcileOrForget(Key key) {
    ReconcileState reconcileState =
        reconcileStates.computeIfAbsent(key, any -> new ReconcileState());
    Optional<RemoteWorkloadContext> context = context(key, reconcileState);
    if (context.isEmpty()) {
      reconcileStates.remove(key);
      conflictBackoff.reset(key);
      return Optional.empty();
    }
    return reconcile(context.get())
        .map(at -> Duration.between(connectionContext.clock().instant(), at));
  }

  /** The Workload as it is now; empty if no state must be kept for it. */
  private Optional<RemoteWorkloadContext> context(Key key, ReconcileState reconcileState) {
    if (!open || !leadership.leading()) {
      return Optional.empty();
    }
    Optional<CachedWorkload> local = workloads.get(key.namespace(), key.name());
    Map<String, JsonNode> copies = workloadStateReader.copies(key);
    if (copies.isEmpty() && local.filter(it -> !it.finished()).isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new RemoteWorkloadContext(
            options.kinds(),
            key,
            local,
            local.flatMap(this::check),
            copies,
            connectionContext.clock().instant(),
            reconcileState));
  }

  /** One reconciliation; returns when the next one is due even without an event. */
  private Optional<Instant> reconcile(RemoteWorkloadContext context) {
    try {
      return executeExclusively(context);
    } catch (IOException | RuntimeException e) {
      return Optional.of(afterFailure(context, "look", e));
    }
  }

  /** Workloads of the same job are reconciled one after the other. */
  private Optional<Instant> executeExclusively(RemoteWorkloadContext context) throws IOException {
    Optional<JobGroups.GroupedJob> job = JobGroups.job(context);
    if (job.isEmpty()) {
      return execute(context);
    }
    jobGroups.lock(job.get());
    try {
      return execute(context);
    } finally {
      jobGroups.unlock(job.get());
    }
  }

  private Optional<Instant> execute(RemoteWorkloadContext context) throws IOException {
    if ((context.check().isEmpty() && context.copies().isEmpty())
        || context.workload().filter(this::isSuperseded).isPresent()
        || elasticSlices.isHandedOver(context)) {
      return Optional.empty();
    }
    ManagerState managerState = workloadStateReader.local(context);
    LimitedCandidates candidates =
        groupLimits.of(
            context,
            elasticSlices.limit(
                context,
                withoutUnservedKind(
                    context, workloadStateReader.candidates(context, clusterSelector))));
    Map<String, WorkerState> workerStates = workloadStateReader.remotes(context, leadingSince);
    PlacementPlanner.Planned planned =
        placementPlanner.of(context, managerState, candidates.clusterCandidates(), workerStates);
    PlacementPlan placementPlan = planned.placementPlan();
    Executed executed = execute(context, placementPlan);
    Optional<Instant> requeueAt =
        earliest(
            candidates.requeueAfter().map(context.now()::plus),
            earliest(placementPlan.requeueAt(), executed.requeueAt()));
    if (executed.complete()) {
      conflictBackoff.reset(context.key());
      return earliest(requeueAt, report(context, planned.answers()));
    }
    return requeueAt;
  }

  private static Optional<Instant> earliest(Optional<Instant> one, Optional<Instant> other) {
    return Stream.concat(one.stream(), other.stream()).min(Comparator.naturalOrder());
  }

  /** Writes the workers' answers, when a write is due; returns when the next one is. */
  private Optional<Instant> report(RemoteWorkloadContext context, String text) {
    MessageThrottle messageThrottle = context.reconcileState().messageThrottle();
    String message = context.checkState().map(CheckState::message).orElse("");
    Optional<Instant> due = messageThrottle.due(text, message, context.now());
    if (due.filter(at -> !context.now().isBefore(at)).isEmpty()) {
      return due;
    }
    try {
      actionExecutor.notify(context, text);
    } catch (IOException | RuntimeException e) {
      return Optional.of(afterFailure(context, "look", e));
    }
    messageThrottle.written(context.now());
    return Optional.empty();
  }

  /**
   * What became of the actions of a plan.
   *
   * @param complete whether all were completed and none changed the manager's Workload
   * @param requeueAt when to reconcile again, for those that weren't
   */
  private record Executed(boolean complete, Optional<Instant> requeueAt) {}

  private Executed execute(RemoteWorkloadContext context, PlacementPlan placementPlan) {
    Optional<Instant> requeueAt = Optional.empty();
    for (PlacementAction placementAction : placementPlan.placementActions()) {
      try {
        if (placementAction instanceof PlacementAction.Withdraw(String cluster)
            && context.workload().isEmpty()) {
          withdrawOrphan(context, placementAction, cluster);
          continue;
        }
        Optional<Duration> requeueAfter = actionExecutor.act(context, placementAction);
        if (placementAction instanceof PlacementAction.Nominate) {
          context.reconcileState().began(context.now());
          return new Executed(false, Optional.of(context.now()));
        }
        if (requeueAfter.isPresent()) {
          Instant now = connectionContext.clock().instant();
          return new Executed(false, earliest(requeueAt, requeueAfter.map(now::plus)));
        }
      } catch (IOException e) {
        Instant retryAt = afterFailure(context, placementAction.toString(), e);
        requeueAt = earliest(requeueAt, Optional.of(retryAt));
        if (!(placementAction instanceof PlacementAction.Offer
            || placementAction instanceof PlacementAction.Withdraw)) {
          return new Executed(false, requeueAt);
        }
      }
    }
    actionExecutor.tellOffer(context, placementPlan);
    return new Executed(true, requeueAt);
  }

  private void withdrawOrphan(
      RemoteWorkloadContext context, PlacementAction withdrawal, String cluster)
      throws IOException {
    if (orphanTurns.begin(cluster, context.key())) {
      try {
        actionExecutor.act(context, withdrawal);
      } finally {
        orphanTurns.end(cluster).forEach(this::enqueue);
      }
    }
  }

  /** Excludes the workers that do not serve the kind of the Workload's job. */
  private ClusterCandidates withoutUnservedKind(
      RemoteWorkloadContext context, ClusterCandidates clusterCandidates) {
    Optional<MultiKueueKind> kind =
        context.check().flatMap(any -> context.owner()).map(RemoteWorkloadContext.Owner::kind);
    if (kind.isEmpty()) {
      return clusterCandidates;
    }
    jobs.want(kind.get());
    if (kind.get().pods() != MultiKueueRules.Pods.NONE) {
      jobs.want(MultiKueueKinds.POD);
    }
    String why = "does not serve %s of %s".formatted(kind.get().kind(), kind.get().apiVersion());
    return clusterCandidates.without(jobs.lacking(kind.get())::contains, why);
  }

  /** Reports a failure; returns when to reconcile again. */
  private Instant afterFailure(RemoteWorkloadContext context, String what, Exception failure) {
    Duration pause =
        switch (failure) {
          case RemoteClient.ConflictException conflict -> conflictBackoff.next(context.key());
          case RemoteClient.RefusedException refused -> {
            LOG.warn(
                "workload={}/{} action={} refused=true reason=\"{}\"",
                context.key().namespace(),
                context.key().name(),
                what,
                refused.getMessage());
            context
                .workload()
                .ifPresent(
                    it ->
                        options
                            .dispatchListener()
                            .reported(it, true, String.valueOf(refused.getMessage())));
            yield LONG_DELAY;
          }
          default -> {
            LOG.info(
                "workload={}/{} action={} failed=true reason=\"{}\"",
                context.key().namespace(),
                context.key().name(),
                what,
                failure.toString());
            yield RETRY_DELAY;
          }
        };
    return connectionContext.clock().instant().plus(pause);
  }

  private boolean isSuperseded(CachedWorkload workload) {
    return check(workload).filter(name -> elasticSlices.isSuperseded(workload, name)).isPresent();
  }

  private Optional<String> check(CachedWorkload workload) {
    return workload.status().admissionChecks().stream()
        .map(CheckState::name)
        .filter(name -> clusterSelector.of(name).isPresent())
        .findFirst();
  }

  /** Searches for orphans in workers, periodically. */
  private void collectOrphans() {
    if (open && !options.gcInterval().isZero()) {
      connectionContext.delays().repeat(options.gcInterval(), () -> open, orphanCollector::collect);
      orphanCollector.collect();
    }
  }

  @Override
  public void close() {
    open = false;
    var unused = queue.close(Duration.ZERO);
    jobs.close();
  }

  private final class RemoteJobEvents implements RemoteJobInformers.Listener {

    @Override
    public void changed(Key workload) {
      enqueue(workload);
    }

    @Override
    public void served() {
      enqueueAll();
    }
  }

  /**
   * Whose turn it is to withdraw copies whose Workload the manager doesn't have: a few at a time in
   * each worker. A worker may tell of any number of copies, and be slow to delete them; those that
   * wait hold a name each, and no request. Thread-safe.
   */
  static final class OrphanTurns {

    /** Withdrawals from one worker at a time. */
    static final int AT_A_TIME = 8;

    private final Map<String, Worker> workers = new HashMap<>();

    private static final class Worker {
      private int underWay;
      private final Set<Key> waiting = new LinkedHashSet<>();
    }

    /**
     * Begins a withdrawal, or notes that one waits.
     *
     * @return whether it is this Workload's turn in this worker; then {@link #end} must follow
     */
    synchronized boolean begin(String cluster, Key workload) {
      Worker worker = workers.computeIfAbsent(cluster, any -> new Worker());
      if (worker.underWay == AT_A_TIME) {
        worker.waiting.add(workload);
        return false;
      }
      worker.underWay++;
      return true;
    }

    /**
     * Ends a withdrawal.
     *
     * @return the Workloads that may begin now, those that wait longest first
     */
    synchronized List<Key> end(String cluster) {
      Worker worker = workers.get(cluster);
      if (worker == null) {
        return List.of();
      }
      worker.underWay--;
      List<Key> next = worker.waiting.stream().limit((long) AT_A_TIME - worker.underWay).toList();
      next.forEach(worker.waiting::remove);
      if (worker.underWay == 0 && worker.waiting.isEmpty()) {
        workers.remove(cluster);
      }
      return next;
    }
  }

  /** The manager's pods that belong to groups. Thread-safe. */
  public interface LocalPods {

    /**
     * A pod of a group.
     *
     * @param deleting whether it has a deletion timestamp
     */
    record LocalPod(String name, String uid, boolean deleting) {}

    /** The known pods of a group; the name of the group is the name of its Workload. */
    List<LocalPod> group(String namespace, String group);

    /**
     * Registers an observer, called with namespace and name of each group whose pods are created,
     * deleted, or get a deletion timestamp.
     */
    void observe(BiConsumer<String, String> observer);
  }

  /** Listener for dispatch events, called after the write succeeded. */
  public interface DispatchListener {

    /** A remote Workload was created in a worker. */
    void dispatched(CachedWorkload workload, String clusterQueue, String cluster);

    /** A remote Workload was admitted; the Workload runs in that worker from now on. */
    void admitted(CachedWorkload workload, String clusterQueue, String cluster);

    /** The Workload was requeued because its worker lost it, evicted it, or cannot be reached. */
    void requeued(CachedWorkload workload, String clusterQueue, String cluster);

    /** A worker was cut off, because it sent more than is read from one. */
    default void cutOff(String cluster) {}

    /** An object of a worker can't be read. */
    default void unreadable(String cluster) {}

    /** Reports a message about a Workload to users. */
    void reported(CachedWorkload workload, boolean warning, String note);
  }

  /** Resolves the workers of an AdmissionCheck. */
  public interface ClusterSelector {

    /**
     * The workers of the check, in the order of its config; empty if the check is unknown or not a
     * MultiKueue check.
     */
    Optional<List<String>> of(String check);

    /** Whether the configs are known; before that no check has workers. */
    boolean listed();

    /** The labels of a worker's MultiKueueCluster; empty if it does not exist. */
    Map<String, String> labels(String cluster);
  }
}
