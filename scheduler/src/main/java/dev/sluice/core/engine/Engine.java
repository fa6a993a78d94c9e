package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.engine.Explanations.UnreportedExplanations;
import dev.sluice.core.engine.OutcomeApplier.EligibilityCheck;
import dev.sluice.core.engine.QuotaAccounting.DirtySet;
import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.reservation.Reservations;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.NominatedWorkload;
import dev.sluice.core.scheduling.SchedulingCycle;
import dev.sluice.core.scheduling.SchedulingCycle.HeadRules;
import dev.sluice.core.scheduling.SchedulingPolicies;
import dev.sluice.core.scheduling.SchedulingPolicies.SchedulingPolicy;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import dev.sluice.core.scheduling.flavor.FlavorEligibility.FixedFlavor;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.scheduling.preemption.Preemptor.PreemptionTime;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyUsage;
import dev.sluice.core.waiting.CycleHeads;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import dev.sluice.core.waiting.ExportedNames;
import dev.sluice.core.waiting.HeldBack;
import dev.sluice.core.waiting.WaitingExport;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The engine: applies events and makes decisions. It reads no clock and does no I/O: the time is an
 * event, and the same events in the same order lead to the same decisions. Not thread-safe: {@link
 * SchedulerThread} is the only thread that calls it.
 */
public final class Engine {

  private final EngineOptions options;
  private final SpecRegistry specRegistry;
  private final DirtySet dirtySet = new DirtySet();
  private final WaitingWorkloads waiting;
  private final Explanations explanations;
  private final UnreportedExplanations unreportedExplanations;
  private final UsageLedger usageLedger;
  private final QuotaAccounting quotaAccounting;
  private final WorkloadTable workloads;
  private final QueryHandler queryHandler;
  private final SchedulingPolicy policy;
  private final EligibilityCheck eligibilityCheck;
  private final OutcomeApplier outcomeApplier;
  private final BudgetKeeper budgets;
  private final ReservationKeeper reservations;
  private final TopologyCache topologyCache;
  private final SecondPassQueue secondPasses;
  private final PlannedStarts plannedStarts = new PlannedStarts();
  private final BackfillPass backfillPass;
  private final boolean skipsPlainly;
  private final boolean refills;
  private Instant now = Instant.EPOCH;
  private boolean deciding;

  /** Whether ClusterQueues or Cohorts had rules of preemption when trees were built last. */
  private boolean hadPreemptionRules = true;

  private CycleStatistics statistics = CycleStatistics.NONE;
  private CycleHeads evaluated = CycleHeads.none();
  private long cycle;

  /**
   * An empty engine that doesn't decide yet.
   *
   * @param options options of the engine
   * @param decisions receives each decision; must return quickly and must not call the engine
   */
  public Engine(EngineOptions options, Consumer<Decision> decisions) {
    this(options, decisions, true);
  }

  /**
   * An empty engine that doesn't decide yet.
   *
   * @param skipsPlainly whether a head that is skipped needs no outcome of its own where the next
   *     cycles don't depend on it; the decisions are the same
   */
  Engine(EngineOptions options, Consumer<Decision> decisions, boolean skipsPlainly) {
    this.options = options;
    this.skipsPlainly = skipsPlainly;
    this.refills =
        options.fairSharing().filter(FairSharing::refills).isPresent() && !options.blockAdmission();
    this.specRegistry = new SpecRegistry(options.topology());
    this.budgets = new BudgetKeeper(specRegistry);
    this.reservations = new ReservationKeeper(specRegistry, plannedStarts, budgets);
    this.topologyCache = specRegistry.topologies;
    this.eligibilityCheck = new EligibilityCheck(specRegistry);
    this.policy =
        SchedulingPolicies.of(
            options.fairSharing(),
            options.order(),
            specRegistry.pairs,
            specRegistry::queueAt,
            specRegistry::existingQueues);
    this.waiting =
        new WaitingWorkloads(
            policy.preemption()::upperBound,
            policy.forecastOrder(),
            options.blockAdmission(),
            options.order().repeatLimit(),
            new Context());
    this.explanations = new Explanations(specRegistry, waiting);
    this.unreportedExplanations = new UnreportedExplanations(explanations::of);
    this.usageLedger =
        new UsageLedger(
            options.admissionFairSharing(),
            specRegistry,
            waiting,
            dirtySet,
            policy.preemption()::forget);
    JobSlices slices = new JobSlices();
    this.quotaAccounting =
        new QuotaAccounting(specRegistry, waiting, dirtySet, slices, reservations, plannedStarts);
    this.secondPasses = new SecondPassQueue(specRegistry, quotaAccounting, slices, decisions);
    this.workloads =
        new WorkloadTable(
            specRegistry,
            quotaAccounting,
            dirtySet,
            unreportedExplanations,
            waiting,
            usageLedger,
            slices,
            secondPasses);
    this.queryHandler =
        new QueryHandler(specRegistry, workloads, explanations, waiting, plannedStarts);
    this.outcomeApplier =
        new OutcomeApplier(
            specRegistry,
            workloads,
            waiting,
            dirtySet,
            unreportedExplanations,
            eligibilityCheck,
            options.fairSharing().isPresent(),
            decisions);
    this.backfillPass =
        new BackfillPass(
            specRegistry,
            waiting,
            plannedStarts,
            reservations.reservations(),
            new BackfillCycles());
  }

  /**
   * An engine that makes the same decisions as the one that exported the state, for the same
   * events. All its views are out of date, because nobody has seen any of them.
   *
   * @param options options of the engine; those of the state, unless other ones are tried
   * @param state a state that an engine exported
   * @param decisions receives each decision; must return quickly and must not call the engine
   */
  public static Engine restore(
      EngineOptions options, EngineState state, Consumer<Decision> decisions) {
    Engine engine = new Engine(options, decisions);
    engine.restore(state);
    return engine;
  }

  private void restore(EngineState state) {
    now = state.now();
    deciding = state.deciding();
    cycle = state.waiting().cycle();
    budgets.restore(state);
    reservations.restore(state.workloads().budgets().reservations(), now);
    specRegistry.restore(state);
    workloads.restore(state.workloads(), now);
    specRegistry.restoreTrees(state);
    usageLedger.restore(state);
    workloads.restoreQueues(state);
    // First the bounds: held Workloads are kept with theirs.
    plannedStarts.restore(
        state.workloads().backfill(),
        tree -> new Names().root(new WaitingExport.TreeRoot(tree.root(), tree.ofQueue())));
    waiting.restore(state.waiting(), now, new Names());
    specRegistry
        .clusterQueues
        .values()
        .forEach(
            queue -> {
              if (queue.cache != null) {
                waiting.restoreWaits(queue.cache);
              }
            });
    workloads.specsChanged(true);
    dirtySet.everything = state.specs().rebuildDue();
    dirtySet.all = true;
  }

  /**
   * The whole state as a value; nothing changes. Cost: proportional to all Workloads, queues and
   * nodes (docs/engine-state.md#costs). Not to be called by a receiver of decisions.
   */
  public EngineState export() {
    return new EngineState(
        options,
        now,
        deciding,
        specRegistry.export(dirtySet.everything),
        specRegistry.clusterQueues.values().stream().map(ClusterQueueState::export).toList(),
        specRegistry.localQueues.values().stream().map(LocalQueueState::export).toList(),
        workloads.export(reservations, budgets, plannedStarts.export(dirtySet.everything)),
        waiting.export(new Names(), dirtySet.everything));
  }

  /** What the names in an exported state stand for. */
  private final class Names implements ExportedNames {

    @Override
    public @Nullable ClusterQueueCache queue(String name) {
      return specRegistry.cacheOf(name);
    }

    @Override
    public @Nullable QueuedWorkload queued(String uid) {
      WorkloadEntry entry = workloads.find(uid);
      return entry == null ? null : entry.item;
    }

    @Override
    public @Nullable QuotaNode root(WaitingExport.TreeRoot root) {
      return root.clusterQueue()
          ? specRegistry.hierarchy.queue(root.name())
          : specRegistry.hierarchy.cohort(root.name());
    }
  }

  /** What waiting Workloads depend on: eligibility, and what the specs say. */
  private final class Context implements WaitingWorkloads.CycleContext {

    @Override
    public boolean isIneligible(QueueHead head) {
      return reservations.reservations().mayHold(head.item(), head.queue())
          || !budgets.isEmpty()
          || head.item()
              .equivalenceClass()
              .shape()
              .slice()
              .flatMap(PendingWorkload.JobSlice::variant)
              .isPresent()
          || eligibilityCheck.of(head.item(), head.queue()).isPresent()
          || !FixedFlavor.isEligible(
              specRegistry.flavors, head.item().equivalenceClass().demand(head.queue()));
    }

    @Override
    public Optional<HeldBack> heldBack(Collection<QuotaNode> roots) {
      Reservations kept = reservations.reservations();
      return kept.isEmpty() ? Optional.empty() : Optional.of(kept.heldRequests(roots));
    }

    @Override
    public long longest(QueuedWorkload workload) {
      return reservations.reservations().longest(workload);
    }

    @Override
    public boolean mayReturnLater(QuotaNode root) {
      return !refills
          && budgets.isEmpty()
          && specRegistry.limitedLocalQueues == 0
          && !specRegistry.topologyTrees.contains(root)
          && !reservations.reservations().lends(root);
    }

    @Override
    public void reconsider(QueueHead queueHead) {
      if (mayReturn(queueHead.item())) {
        Engine.this.reconsider(queueHead.item(), queueHead.queue());
      }
    }

    @Override
    public boolean maySkip(QuotaNode root) {
      return skipsPlainly
          && specRegistry.limitedLocalQueues == 0
          && budgets.isEmpty()
          && !specRegistry.backfillTrees.containsKey(root)
          && !specRegistry.topologyTrees.contains(root);
    }

    @Override
    public Set<QuotaNode> topologyTrees() {
      return specRegistry.topologyTrees;
    }

    @Override
    public Set<QuotaNode> reachingTrees() {
      return specRegistry.reachingTrees;
    }

    @Override
    public @Nullable ClusterQueueCache queue(String name) {
      return specRegistry.cacheOf(name);
    }
  }

  /** Applies an event to the state. */
  public void apply(SchedulerEvent schedulerEvent) {
    if (mayChangeEligibility(schedulerEvent)) {
      waiting.eligibilityMayChange();
    }
    plansChange(schedulerEvent);
    react(schedulerEvent);
    if (schedulerEvent instanceof SchedulerEvent.WorkloadPending
        || schedulerEvent instanceof SchedulerEvent.WorkloadReserving) {
      plansChange(schedulerEvent); // the Workload may be another tree's now
    }
  }

  /** Records in which trees an event may change what is planned. */
  private void plansChange(SchedulerEvent schedulerEvent) {
    if (specRegistry.backfillTrees.isEmpty()
        || schedulerEvent instanceof SchedulerEvent.TimePassed) {
      return;
    }
    WorkloadId id = schedulerEvent.about();
    WorkloadEntry entry = id == null ? null : workloads.find(id.uid());
    if (id == null || (entry != null && entry.slice != null)) {
      plannedStarts.changed();
      return;
    }
    plannedStarts.changedElsewhere();
    if (entry != null) {
      String clusterQueue = entry.localQueue.clusterQueue();
      planChanges(clusterQueue);
      Reservation reservation = entry.reservation;
      if (reservation != null && !reservation.clusterQueue().equals(clusterQueue)) {
        planChanges(reservation.clusterQueue());
      }
    }
  }

  private void planChanges(String clusterQueue) {
    ClusterQueueCache queue = specRegistry.cacheOf(clusterQueue);
    if (queue != null) {
      planChanges(queue.node().root());
    }
  }

  private void planChanges(QuotaNode root) {
    if (specRegistry.backfillTrees.containsKey(root)) {
      plannedStarts.changed(root);
    }
  }

  private void react(SchedulerEvent schedulerEvent) {
    switch (schedulerEvent) {
      case SchedulerEvent.WorkloadPending(var workload) -> {
        workloads.pending(workload);
        reservations.reservations().demandChanged();
      }
      case SchedulerEvent.WorkloadReserving(var workload) -> workloads.reserving(workload);
      case SchedulerEvent.WorkloadReleased(var id, var version) -> {
        workloads.released(id, version);
        reservations.reservations().demandChanged();
        if (version == Long.MAX_VALUE
            && plannedStarts.knowsBounds()
            && workloads.find(id.uid()) == null) {
          plannedStarts.forget(id.uid());
        }
      }
      case SchedulerEvent.AdmissionWritten(var id, var version, var admitted) ->
          workloads.written(id, version, admitted);
      case SchedulerEvent.AdmissionRefused(var id, var decided, var superseded) ->
          workloads.refused(id, decided, superseded);
      case SchedulerEvent.EvictionRefused(var id, var decided) ->
          workloads.evictionRefused(id, decided);
      case SchedulerEvent.PlacementRefused(var id) ->
          secondPasses.refused(id, now, workloads::requeueReplacement);
      case SchedulerEvent.RunBounded(var id, var bound) -> {
        WorkloadEntry entry = workloads.find(id.uid());
        plannedStarts.bound(id.uid(), bound, entry != null && entry.reservation != null);
        if (entry != null) {
          reservations.reservations().boundChanged();
          runEndChanged(entry.reservation);
        }
      }
      case SchedulerEvent.TimePassed(var instant) -> {
        Instant before = now;
        now = instant;
        workloads.timePassed(instant, this::planChanges);
        waiting.timePassed(instant);
        usageLedger.timePassed(instant);
        budgets.timePassed(instant);
        reservations.reservations().timePassed(instant);
        reservationsComeNear(before);
      }
      case SchedulerEvent.DecidingEnabled(var enabled) -> {
        deciding = enabled;
        usageLedger.deciding(enabled);
        budgets.counting(enabled);
        compareBudgets();
      }
      case SchedulerEvent.FlavorChanged(var flavor) -> {
        dirtySet.everything |= !flavor.equals(specRegistry.flavors.put(flavor.name(), flavor));
        topologyCache.set(flavor);
      }
      case SchedulerEvent.FlavorRemoved(var name) -> {
        dirtySet.everything |= specRegistry.flavors.remove(name) != null;
        topologyCache.removeFlavor(name);
      }
      case SchedulerEvent.TopologyChanged(var topology) ->
          dirtySet.everything |= topologyCache.set(topology);
      case SchedulerEvent.TopologyRemoved(var name) ->
          dirtySet.everything |= topologyCache.removeTopology(name);
      case SchedulerEvent.NodeChanged(var node) -> placesChanged(topologyCache.set(node));
      case SchedulerEvent.NodeRemoved(var name) -> placesChanged(topologyCache.removeNode(name));
      case SchedulerEvent.NodeUsageChanged(var node, var used) ->
          usageChanged(topologyCache.setUsage(node, used));
      case SchedulerEvent.ClusterQueueChanged(var queue) -> setClusterQueue(queue);
      case SchedulerEvent.ClusterQueueRemoved(var name) -> removeClusterQueue(name);
      case SchedulerEvent.CohortChanged(var cohort) -> {
        dirtySet.everything |= specRegistry.declare(cohort);
        compareBudgets();
      }
      case SchedulerEvent.CohortRemoved(var name) -> {
        dirtySet.everything |= specRegistry.removeCohort(name);
        compareBudgets();
      }
      case SchedulerEvent.BudgetChanged(var budget, var spent) -> {
        if (budgets.declare(budget, spent)) {
          compareBudgets();
        }
      }
      case SchedulerEvent.ReservationsChanged(var kept) ->
          reservations.reservations().declare(kept);
      case SchedulerEvent.BudgetRemoved(var name) -> budgets.remove(name);
      case SchedulerEvent.PricesChanged(var flavor, var perHour) -> {
        dirtySet.everything |= !perHour.equals(budgets.pricesOf(flavor));
        if (budgets.price(flavor, perHour)) {
          compareBudgets();
        }
      }
      case SchedulerEvent.LocalQueueChanged(var queue) ->
          setLocalQueue(specRegistry.localQueue(queue.id()), queue);
      case SchedulerEvent.LocalQueueRemoved(var id) -> {
        LocalQueueState queue = specRegistry.localQueues.get(id);
        if (queue != null) {
          setLocalQueue(queue, null);
          specRegistry.forgetIfUnused(queue);
        }
      }
      case SchedulerEvent.LocalQueueUsed used -> usageLedger.usageReported(used);
      case SchedulerEvent.NamespaceChanged(var name, var labels) -> {
        Map<String, String> before = specRegistry.namespaces.put(name, labels);
        if (!labels.equals(before)) {
          namespaceChanged(name);
        }
      }
      case SchedulerEvent.NamespaceRemoved(var name) -> {
        if (specRegistry.namespaces.remove(name) != null) {
          namespaceChanged(name);
        }
      }
    }
  }

  /** Whether an event may change more than Workloads, their reservations and the time. */
  private static boolean mayChangeEligibility(SchedulerEvent schedulerEvent) {
    return switch (schedulerEvent) {
      case SchedulerEvent.WorkloadPending _,
          SchedulerEvent.WorkloadReserving _,
          SchedulerEvent.WorkloadReleased _,
          SchedulerEvent.AdmissionWritten _,
          SchedulerEvent.AdmissionRefused _,
          SchedulerEvent.EvictionRefused _,
          SchedulerEvent.PlacementRefused _,
          SchedulerEvent.RunBounded _,
          SchedulerEvent.TimePassed _,
          SchedulerEvent.DecidingEnabled _ ->
          false;
      default -> true;
    };
  }

  /** A head that may be in the way of what is kept, and wasn't before, may get another flavor. */
  private void reservationsComeNear(Instant since) {
    Reservations kept = reservations.reservations();
    if (!kept.isEmpty()) {
      waiting.activateClaims(head -> kept.reachesAnother(head.item(), head.queue(), since));
    }
  }

  private void runEndChanged(@Nullable Reservation reservation) {
    ClusterQueueCache queue =
        reservation == null ? null : specRegistry.cacheOf(reservation.clusterQueue());
    if (queue != null) {
      waiting.runEndChanged(queue.node());
    }
  }

  private void usageChanged(TopologyCache.UsageChange change) {
    switch (change) {
      case LESS -> quotaAccounting.placesReleased();
      case MORE -> quotaAccounting.placesTaken();
      case NONE -> {}
    }
  }

  private void placesChanged(boolean relevant) {
    if (relevant) {
      quotaAccounting.placesReleased();
    }
  }

  /**
   * Reconsiders Workloads that are held because of the namespace, and StrictFIFO heads of the
   * namespace that block their queue.
   */
  private void namespaceChanged(String name) {
    compareBudgets();
    reconsiderIneligible();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueCache cache = queue.cache;
      QueuedWorkload head = waiting.blockingHead(queue.name);
      if (cache != null && head != null && head.id().namespace().equals(name)) {
        waiting.unblock(cache);
      }
    }
  }

  private void setClusterQueue(ClusterQueueSpec spec) {
    if (spec.equals(specRegistry.clusterQueue(spec.name()).spec)) {
      return;
    }
    ClusterQueueSpec before = specRegistry.clusterQueue(spec.name()).spec;
    boolean isNew = specRegistry.cacheOf(spec.name()) == null;
    specRegistry.declare(spec);
    if (before != null && before.strategy() != spec.strategy()) {
      waiting.strategyChanged(specRegistry.clusterQueue(spec.name()).pending);
    }
    dirtySet.everything = true;
    if (isNew) {
      for (LocalQueueState localQueue : specRegistry.localQueuesOf(spec.name())) {
        workloads.requeueAll(localQueue, null);
      }
    }
    usageLedger.specChanged(specRegistry.clusterQueue(spec.name()));
    compareBudgets();
  }

  /** Compares what budgets count with who holds quota, after scopes may have changed. */
  private void compareBudgets() {
    if (budgets.isCounting()) {
      workloads.compare(budgets);
    }
  }

  private void removeClusterQueue(String name) {
    ClusterQueueState queue = specRegistry.clusterQueue(name);
    if (queue.spec == null) {
      return;
    }
    ClusterQueueCache cache = queue.cache;
    if (cache != null) {
      waiting.remove(cache);
    }
    specRegistry.removeClusterQueue(name);
    for (LocalQueueState localQueue : specRegistry.localQueuesOf(name)) {
      workloads.requeueAll(localQueue, queue);
    }
    usageLedger.specChanged(queue);
    dirtySet.everything = true;
    compareBudgets();
  }

  private void setLocalQueue(LocalQueueState localQueue, @Nullable LocalQueueSpec spec) {
    if (Objects.equals(spec, localQueue.spec)) {
      return;
    }
    ClusterQueueState former = specRegistry.clusterQueues.get(localQueue.clusterQueue());
    boolean limited = localQueue.limitsWorkloads();
    specRegistry.declare(localQueue, spec);
    if (limited || localQueue.limitsWorkloads()) {
      specRegistry.freed.add(localQueue);
    }
    workloads.requeueAll(localQueue, former);
    usageLedger.specChanged(localQueue);
    dirtySet.localQueues.add(localQueue.id);
  }

  /** Reconsiders Workloads that are held because of their namespace or limits. */
  private void reconsiderIneligible() {
    waiting.reconsidersAll();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueCache cache = queue.cache;
      if (cache == null) {
        continue;
      }
      for (QueuedWorkload item : queue.pending.heldWorkloads()) {
        if (mayReturn(item)) {
          reconsider(item, cache);
        }
      }
      waiting.activate(cache);
    }
  }

  /**
   * Reconsiders Workloads that waited for the limit on the number of Workloads of a LocalQueue, and
   * a head that a new limit keeps from quota: it claims none any more.
   */
  private void reconsiderFreed() {
    for (LocalQueueState localQueue : specRegistry.freed) {
      ClusterQueueCache cache = specRegistry.cacheOf(localQueue.clusterQueue());
      if (cache == null) {
        continue;
      }
      for (QueuedWorkload item : cache.pending().heldWorkloads()) {
        if (item.localQueue().equals(localQueue.id) && mayReturn(item)) {
          reconsider(item, cache);
        }
      }
      QueuedWorkload head = waiting.blockingHead(cache.name());
      if (head != null
          && head.localQueue().equals(localQueue.id)
          && (localQueue.atWorkloadLimit()
              || triedNoFlavor(waiting.explanation(cache.name(), head)))) {
        waiting.unblock(cache);
      }
      waiting.activate(cache);
    }
    specRegistry.freed.clear();
  }

  /** Whether a head was blocked before its flavors were tried, as by a limit: it lacks no quota. */
  private static boolean triedNoFlavor(@Nullable Explanation explanation) {
    return explanation == null || explanation.attempts().isEmpty();
  }

  private boolean mayReturn(QueuedWorkload item) {
    return workloads.entryOf(item).retained == null && !waiting.isPaused(item);
  }

  private void reconsider(QueuedWorkload item, ClusterQueueCache queue) {
    Optional<Explanation> ineligibility = eligibilityCheck.of(item, queue);
    if (ineligibility.isPresent() && !eligibilityCheck.blocksQueue(item, queue)) {
      queue.pending().hold(item, ineligibility.get());
      unreportedExplanations.add(workloads.entryOf(item));
      return;
    }
    Optional<Explanation> overBudget = budgets.beforeFlavors(item, queue);
    if (ineligibility.isEmpty() && overBudget.isPresent()) {
      queue.pending().hold(item, overBudget.get());
      unreportedExplanations.add(workloads.entryOf(item));
    } else {
      queue.pending().release(item);
    }
  }

  /** What happened in the last cycle to heads that need preemption. */
  public CycleStatistics statistics() {
    return statistics;
  }

  /**
   * Runs one cycle if there is a head to evaluate.
   *
   * @return whether there was a head to evaluate
   */
  public boolean cycle() {
    statistics = CycleStatistics.NONE;
    evaluated = heads();
    if (evaluated.isEmpty()) {
      return mayBackfill() && backfill();
    }
    SchedulingCycle run = begin();
    List<NominatedWorkload> nominated = run.nominate(evaluated);
    List<CycleOutcome> outcomes =
        refills
            ? run.processAndRefill(evaluated, nominated, this::successor)
            : run.process(evaluated, run.order(nominated));
    Set<QuotaNode> changedTrees = apply(outcomes);
    statistics = run.statistics().with(plannedStarts.takeEvents());
    requeue(changedTrees);
    return true;
  }

  /**
   * The next Workload of a queue that takes part in a cycle after one of the queue was admitted.
   * None where the next one depends on more than the cycle knows: on pods that are ready, on how
   * many Workloads of the LocalQueue have quota, or on other slices of its job.
   */
  private Optional<QueuedWorkload> successor(ClusterQueueCache queue, Set<QueuedWorkload> leaving) {
    if (queue.spec().rules().blocksUntilReady()) {
      return Optional.empty();
    }
    return waiting
        .successor(queue, leaving)
        .filter(item -> item.equivalenceClass().shape().slice().isEmpty())
        .filter(item -> !workloads.entryOf(item).localQueue.limitsWorkloads());
  }

  private boolean mayBackfill() {
    return deciding && !specRegistry.backfillTrees.isEmpty() && plannedStarts.isDue(now);
  }

  /** Plans blocked Workloads, and admits those that may start before them; whether it did. */
  private boolean backfill() {
    boolean admits = backfillPass.run(now) > 0;
    statistics = CycleStatistics.NONE.with(plannedStarts.takeEvents());
    return admits;
  }

  /** How Workloads start before others. */
  private final class BackfillCycles implements BackfillPass.Cycles {

    @Override
    public SchedulingCycle begin() {
      return newCycle();
    }

    @Override
    public boolean isSteady(QuotaNode root) {
      return budgets.isEmpty()
          && !reservations.reservations().isNear(root)
          && !options.blockAdmission()
          && specRegistry.limitedLocalQueues == 0
          && !specRegistry.topologyTrees.contains(root)
          && !waiting.preemptionWaits().contains(root);
    }

    @Override
    public FlavorCosts costs() {
      return flavorCosts();
    }

    @Override
    public void apply(CycleOutcome.Admitted outcome) {
      plannedStarts.backfilled(outcome.queue().name(), outcome.item().id());
      requeue(Engine.this.apply(List.of(outcome)));
    }
  }

  /** The heads that the next cycle evaluates; none while nothing may be decided. */
  private CycleHeads heads() {
    rebuildIfDirty();
    reservations.beginCycle();
    if (!specRegistry.freed.isEmpty()) {
      reconsiderFreed();
    }
    if (reservations.isReleased()) {
      boolean flavorsMayBeOpen = reservations.reservations().isReleased();
      reservations.lookedAgain();
      reconsiderIneligible();
      if (flavorsMayBeOpen) {
        // A head that others keep waiting in one flavor may get another one.
        reservations.queues().forEach(queue -> waiting.activateClaims(queue.node().root()));
      }
    }
    if (!deciding) {
      return CycleHeads.none();
    }
    topologyCache.close(reservations.reservations().closedNow());
    secondPasses.run(now, workloads::requeueReplacement);
    topologyCache.close(Set.of());
    return waiting.heads();
  }

  private SchedulingCycle begin() {
    cycle = waiting.beginCycle();
    return newCycle();
  }

  private final class CycleHeadRules implements HeadRules {

    @Override
    public Optional<Explanation> ineligibility(QueuedWorkload workload, ClusterQueueCache queue) {
      return eligibilityCheck.of(workload, queue);
    }

    @Override
    public List<PreemptionTarget> movesFrom(QueuedWorkload workload) {
      return workloads.movesFrom(workload);
    }
  }

  private SchedulingCycle newCycle() {
    return new SchedulingCycle(
        policy,
        specRegistry.flavors,
        topologyCache,
        new CycleHeadRules(),
        reservations,
        PreemptionTime.of(now, waiting),
        flavorCosts(),
        cycle);
  }

  private FlavorCosts flavorCosts() {
    return new FlavorCosts(budgets::pricesOf, new ExpectedStarts(specRegistry, plannedStarts, now));
  }

  /** Applies the outcomes; returns the trees in which the next cycle may decide differently. */
  private Set<QuotaNode> apply(List<CycleOutcome> outcomes) {
    Set<QuotaNode> changedTrees = new LinkedHashSet<>();
    evaluated.inVain().forEach(queue -> changedTrees.add(queue.node().root()));
    waiting.endCycle(evaluated);
    reservations.endCycle();
    List<TopologyUsage> placed = new ArrayList<>(0);
    for (CycleOutcome outcome : outcomes) {
      if (!specRegistry.backfillTrees.isEmpty()
          && outcome instanceof CycleOutcome.Admitted admitted) {
        planChanges(admitted.queue().node().root());
        plannedStarts.changedElsewhere();
        plannedStarts.started(
            admitted.queue().name(), admitted.item().id(), !evaluated.isEmpty(), now);
      }
      if (outcomeApplier.apply(outcome, cycle, now)) {
        changedTrees.add(outcome.queue().node().root());
      }
      TopologyUsage places =
          outcome instanceof CycleOutcome.Admitted admitted
              ? admitted.assignment().places().usage()
              : null;
      if (places != null) {
        changedTrees.addAll(specRegistry.topologyTrees);
        placed.add(places);
      }
    }
    placed.forEach(quotaAccounting::groupsAdded);
    return changedTrees;
  }

  /** Requeues what the outcomes of the cycle may help: replaced slices, and claims of the trees. */
  private void requeue(Set<QuotaNode> changedTrees) {
    workloads.cycleEnded();
    changedTrees.forEach(waiting::activateClaims);
  }

  /** Names of the ClusterQueues of which the last cycle evaluated a head. */
  Set<String> evaluatedQueues() {
    return evaluated.queues();
  }

  /** Rebuilds the quota trees if specs changed, and requeues all inadmissible Workloads. */
  private void rebuildIfDirty() {
    if (!dirtySet.everything) {
      return;
    }
    specRegistry.hierarchy.rebuildIfDirty();
    policy.preemption().forget();
    waiting.treesRebuilt();
    boolean hasPreemptionRules = specRegistry.hierarchy.hasPreemptionRules();
    workloads.specsChanged(hadPreemptionRules || hasPreemptionRules);
    hadPreemptionRules = hasPreemptionRules;
    specRegistry.topologyTrees.clear();
    specRegistry.reachingTrees.clear();
    specRegistry.backfillTrees.clear();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueSpec spec = queue.spec;
      ClusterQueueCache cache = queue.cache;
      if (spec == null || cache == null) {
        continue;
      }
      List<InactiveReason> before = queue.problems;
      queue.problems = specRegistry.problemsOf(spec);
      cache.active(queue.active());
      cache.topology(topologyCache::isTopologyFlavor);
      specRegistry.planned(cache);
      specRegistry.places(cache);
      cache.advanceQuotaGeneration();
      queue.pending.inadmissibleClasses().forEach(queue.pending::requeue);
      waiting.unblock(cache);
      if (!queue.active() && !before.equals(queue.problems)) {
        queue
            .pending
            .inOrder()
            .forEach(item -> unreportedExplanations.add(workloads.entryOf(item)));
      }
    }
    backfillPass.treesRebuilt();
    reservations.reservations().treesRebuilt();
    dirtySet.everything = false;
    dirtySet.all = true;
    reconsiderIneligible();
  }

  /** Whether the next cycle has nothing to evaluate, as far as is known without running it. */
  boolean idle() {
    return !dirtySet.everything
        && specRegistry.freed.isEmpty()
        && !reservations.isReleased()
        && !secondPasses.isDue(now)
        && waiting.isIdle()
        && !mayBackfill();
  }

  /** Answers queries on the current state. */
  public QueryHandler queries() {
    return queryHandler;
  }

  /** Explanations that were not reported yet. */
  UnreportedExplanations unreported() {
    return unreportedExplanations;
  }

  /** The share of a node; empty without fair sharing. */
  Optional<DominantResourceShare> share(QuotaNode node) {
    return policy.share(node);
  }

  /** The budgets and what was spent of each, by name. */
  public List<BudgetAccount.OfBudget> budgets() {
    return budgets.export();
  }

  /** The Workloads that have to go, because capacity that they use is kept from now on. */
  public List<ReservedCapacity.Overstay> overstays() {
    return reservations.overstays();
  }

  /**
   * The first time to come at which something that waits is looked at again though nothing happens;
   * {@link Instant#MAX} if there is none. Not among them are the times at which plans are made anew
   * for runs that go on beyond their bounds: nobody starts by that before the run ends. Nor are
   * searches for other nodes.
   *
   * @param pauses whether pauses after attempts in vain are among them
   */
  Instant nextTimer(boolean pauses) {
    Instant next = Instant.MAX;
    for (Instant each :
        List.of(
            waiting.nextTimer(pauses),
            workloads.nextBackoff(),
            budgets.next(),
            reservations.reservations().next())) {
      next = each.isAfter(now) && each.isBefore(next) ? each : next;
    }
    return next;
  }

  SpecRegistry registry() {
    return specRegistry;
  }

  DirtySet changes() {
    return dirtySet;
  }
}
