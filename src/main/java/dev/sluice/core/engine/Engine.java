package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.CycleHeads;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.InadmissibleIndex;
import dev.sluice.core.scheduling.NominatedWorkload;
import dev.sluice.core.scheduling.SchedulingCycle;
import dev.sluice.core.scheduling.SchedulingPolicies;
import dev.sluice.core.scheduling.SchedulingPolicy;
import dev.sluice.core.scheduling.flavor.FixedFlavor;
import dev.sluice.core.topology.TopologyCache;
import java.time.Instant;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
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

  private final SpecRegistry specRegistry;
  private final DirtySet dirtySet = new DirtySet();
  private final InadmissibleIndex inadmissibleIndex;
  private final ActiveQueues activeQueues = new ActiveQueues();
  private final AttemptPauses attemptPauses = new AttemptPauses();
  private final PodsReadyGate gate;
  private final Explanations explanations;
  private final UnreportedExplanations unreportedExplanations;
  private final UsageLedger usageLedger;
  private final QuotaAccounting quotaAccounting;
  private final WorkloadTable workloads;
  private final QueryHandler queryHandler;
  private final SchedulingPolicy policy;
  private final EligibilityCheck eligibilityCheck;
  private final OutcomeApplier outcomeApplier;
  private final TopologyCache topologyCache;
  private final SecondPassQueue secondPasses;
  private final boolean skipsPlainly;
  private Instant now = Instant.EPOCH;
  private boolean deciding;
  private CycleStatistics statistics = CycleStatistics.NONE;
  private CycleHeads evaluated = CycleHeads.none();
  private long cycles;

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
    this.skipsPlainly = skipsPlainly;
    this.specRegistry = new SpecRegistry(options.topology());
    this.topologyCache = specRegistry.topologies;
    this.eligibilityCheck = new EligibilityCheck(specRegistry);
    this.gate = new PodsReadyGate(options.blockAdmission());
    this.explanations = new Explanations(specRegistry, activeQueues, gate);
    this.unreportedExplanations = new UnreportedExplanations(explanations::of);
    this.policy =
        SchedulingPolicies.of(
            options.fairSharing(), options.order(), specRegistry.pairs, specRegistry::queueAt);
    this.usageLedger =
        new UsageLedger(
            options.admissionFairSharing(),
            specRegistry,
            activeQueues,
            dirtySet,
            policy.preemption()::forget);
    this.inadmissibleIndex = new InadmissibleIndex(policy, !options.blockAdmission());
    JobSlices slices = new JobSlices();
    this.quotaAccounting =
        new QuotaAccounting(
            specRegistry, inadmissibleIndex, activeQueues, attemptPauses, dirtySet, gate, slices);
    this.secondPasses = new SecondPassQueue(specRegistry, quotaAccounting, slices, decisions);
    this.workloads =
        new WorkloadTable(
            specRegistry,
            quotaAccounting,
            dirtySet,
            unreportedExplanations,
            activeQueues,
            attemptPauses,
            usageLedger,
            slices,
            secondPasses);
    this.queryHandler = new QueryHandler(specRegistry, workloads, explanations, activeQueues, gate);
    this.outcomeApplier =
        new OutcomeApplier(
            specRegistry,
            workloads,
            activeQueues,
            inadmissibleIndex,
            attemptPauses,
            dirtySet,
            unreportedExplanations,
            eligibilityCheck,
            gate,
            options.fairSharing().isPresent(),
            decisions);
  }

  /** Applies an event to the state. */
  public void apply(SchedulerEvent schedulerEvent) {
    if (mayChangeEligibility(schedulerEvent)) {
      activeQueues.activateSkipped();
    }
    switch (schedulerEvent) {
      case SchedulerEvent.WorkloadPending(var workload) -> workloads.pending(workload);
      case SchedulerEvent.WorkloadReserving(var workload) -> workloads.reserving(workload);
      case SchedulerEvent.WorkloadReleased(var id, var version) -> workloads.released(id, version);
      case SchedulerEvent.AdmissionWritten(var id, var version, var admitted) ->
          workloads.written(id, version, admitted);
      case SchedulerEvent.AdmissionRefused(var id, var decided, var superseded) ->
          workloads.refused(id, decided, superseded);
      case SchedulerEvent.EvictionRefused(var id, var decided) ->
          workloads.evictionRefused(id, decided);
      case SchedulerEvent.PlacementRefused(var id) -> secondPasses.refused(id, now);
      case SchedulerEvent.TimePassed(var instant) -> {
        now = instant;
        workloads.timePassed(instant);
        attemptPauses.end(instant, this::activate);
        usageLedger.timePassed(instant);
      }
      case SchedulerEvent.DecidingEnabled(var enabled) -> {
        deciding = enabled;
        usageLedger.deciding(enabled);
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
      case SchedulerEvent.CohortChanged(var cohort) ->
          dirtySet.everything |= specRegistry.declare(cohort);
      case SchedulerEvent.CohortRemoved(var name) ->
          dirtySet.everything |= specRegistry.removeCohort(name);
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
          SchedulerEvent.TimePassed _,
          SchedulerEvent.DecidingEnabled _ ->
          false;
      default -> true;
    };
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
    reconsiderIneligible();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueCache cache = queue.cache;
      QueuedWorkload head = activeQueues.blockingHead(queue.name);
      if (cache != null && head != null && head.id().namespace().equals(name)) {
        activeQueues.unblock(cache);
      }
    }
  }

  private void activate(String clusterQueue) {
    ClusterQueueCache cache = specRegistry.cacheOf(clusterQueue);
    if (cache != null) {
      activeQueues.add(cache);
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
      attemptPauses.endAll(specRegistry.clusterQueue(spec.name()).pending);
    }
    dirtySet.everything = true;
    if (isNew) {
      for (LocalQueueState localQueue : specRegistry.localQueuesOf(spec.name())) {
        workloads.requeueAll(localQueue, null);
      }
    }
    usageLedger.specChanged(specRegistry.clusterQueue(spec.name()));
  }

  private void removeClusterQueue(String name) {
    ClusterQueueState queue = specRegistry.clusterQueue(name);
    if (queue.spec == null) {
      return;
    }
    ClusterQueueCache cache = queue.cache;
    if (cache != null) {
      activeQueues.remove(cache);
    }
    specRegistry.removeClusterQueue(name);
    for (LocalQueueState localQueue : specRegistry.localQueuesOf(name)) {
      workloads.requeueAll(localQueue, queue);
    }
    usageLedger.specChanged(queue);
    dirtySet.everything = true;
  }

  private void setLocalQueue(LocalQueueState localQueue, @Nullable LocalQueueSpec spec) {
    if (Objects.equals(spec, localQueue.spec)) {
      return;
    }
    ClusterQueueState former = specRegistry.clusterQueues.get(localQueue.clusterQueue());
    specRegistry.declare(localQueue, spec);
    workloads.requeueAll(localQueue, former);
    usageLedger.specChanged(localQueue);
    dirtySet.localQueues.add(localQueue.id);
  }

  /** Reconsiders Workloads that are held because of their namespace or limits. */
  private void reconsiderIneligible() {
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueCache cache = queue.cache;
      if (cache == null) {
        continue;
      }
      for (QueuedWorkload item : queue.pending.heldWorkloads()) {
        if (workloads.entryOf(item).retained == null && !attemptPauses.isPaused(item)) {
          reconsider(item, cache);
        }
      }
      activeQueues.add(cache);
    }
  }

  /** Reconsiders Workloads that waited for the limit on the number of Workloads of a LocalQueue. */
  private void reconsiderFreed() {
    for (LocalQueueState localQueue : specRegistry.freed) {
      ClusterQueueCache cache = specRegistry.cacheOf(localQueue.clusterQueue());
      if (cache == null) {
        continue;
      }
      for (QueuedWorkload item : cache.pending().heldWorkloads()) {
        if (item.localQueue().equals(localQueue.id)
            && workloads.entryOf(item).retained == null
            && !attemptPauses.isPaused(item)) {
          reconsider(item, cache);
        }
      }
      QueuedWorkload head = activeQueues.blockingHead(cache.name());
      if (head != null && head.localQueue().equals(localQueue.id)) {
        activeQueues.unblock(cache);
      }
      activeQueues.add(cache);
    }
    specRegistry.freed.clear();
  }

  private void reconsider(QueuedWorkload item, ClusterQueueCache queue) {
    Optional<Explanation> ineligibility = eligibilityCheck.of(item, queue);
    if (ineligibility.isPresent() && !eligibilityCheck.blocksQueue(item, queue)) {
      queue.pending().hold(item, ineligibility.get());
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
    evaluated = heads();
    if (evaluated.isEmpty()) {
      return false;
    }
    SchedulingCycle cycle = begin();
    List<NominatedWorkload> nominated = cycle.nominate(evaluated);
    Iterator<NominatedWorkload> ordered = cycle.order(nominated);
    List<CycleOutcome> outcomes = cycle.process(evaluated, ordered);
    statistics = cycle.statistics();
    Set<QuotaNode> changedTrees = apply(outcomes);
    requeue(changedTrees);
    return true;
  }

  /** The heads that the next cycle evaluates; none while nothing may be decided. */
  private CycleHeads heads() {
    rebuildIfDirty();
    if (!specRegistry.freed.isEmpty()) {
      reconsiderFreed();
    }
    if (deciding) {
      secondPasses.run(now);
    }
    if (!deciding || gate.isClosed()) {
      return CycleHeads.none();
    }
    inadmissibleIndex.requeueGated(activeQueues::add);
    InadmissibleIndex.Candidates candidates = candidates();
    return new CycleHeads(heads(candidates), candidates.plain(), candidates.inVain());
  }

  private SchedulingCycle begin() {
    cycles++;
    activeQueues.beginCycle(cycles);
    return new SchedulingCycle(
        policy,
        specRegistry.flavors,
        topologyCache,
        eligibilityCheck::of,
        cycles,
        gate.admissions());
  }

  /** Applies the outcomes; returns the trees in which the next cycle may decide differently. */
  private Set<QuotaNode> apply(List<CycleOutcome> outcomes) {
    Set<QuotaNode> changedTrees = new LinkedHashSet<>();
    evaluated.inVain().forEach(queue -> changedTrees.add(queue.node().root()));
    activeQueues.endCycle(evaluated);
    for (CycleOutcome outcome : outcomes) {
      if (outcomeApplier.apply(outcome, cycles, now)) {
        changedTrees.add(outcome.queue().node().root());
      }
      if (outcome instanceof CycleOutcome.Admitted admitted
          && admitted.assignment().places().usage() != null) {
        changedTrees.addAll(specRegistry.topologyTrees);
      }
    }
    return changedTrees;
  }

  /** Requeues what the outcomes of the cycle may help: replaced slices, and claims of the trees. */
  private void requeue(Set<QuotaNode> changedTrees) {
    workloads.cycleEnded();
    changedTrees.forEach(activeQueues::activate);
  }

  /** Names of the ClusterQueues of which the last cycle evaluated a head. */
  Set<String> evaluatedQueues() {
    return evaluated.queues();
  }

  /**
   * Clears the search progress of a head that tried all flavors without success, if reservations in
   * its tree have changed since.
   */
  private void restartFlavorSearch(ClusterQueueCache queue) {
    QueuedWorkload head = queue.pending().head();
    FlavorProgress progress = head == null ? null : head.flavorProgress();
    if (head != null
        && progress != null
        && progress.isWithoutSuccess()
        && activeQueues.changedSince(queue.node(), progress.cycle())) {
      head.flavorProgress(null);
    }
  }

  /** The inadmissible Workloads that the next cycle evaluates. */
  private InadmissibleIndex.Candidates candidates() {
    Set<QuotaNode> skippedTrees = activeQueues.beginSkipped();
    return inadmissibleIndex.hasReleases() || !skippedTrees.isEmpty()
        ? inadmissibleIndex.candidates(
            new InadmissibleIndex.Surrounding(
                activeQueues.headsByTree(),
                queueHead ->
                    eligibilityCheck.of(queueHead.item(), queueHead.queue()).isPresent()
                        || !FixedFlavor.isEligible(
                            specRegistry.flavors,
                            queueHead.item().equivalenceClass().demand(queueHead.queue())),
                root ->
                    skipsPlainly
                        && specRegistry.limitedLocalQueues == 0
                        && !specRegistry.topologyTrees.contains(root),
                skippedTrees))
        : InadmissibleIndex.Candidates.NONE;
  }

  /**
   * The heads of the active queues, and inadmissible Workloads that fit after a release of quota.
   */
  private Map<ClusterQueueCache, QueuedWorkload> heads(InadmissibleIndex.Candidates candidates) {
    for (InadmissibleIndex.InadmissibleQueue candidate : candidates.classes()) {
      if (candidate.queue().queueing().headBlocks()) {
        inadmissibleIndex.remove(candidate);
        if (activeQueues.isBlockedBy(candidate.queue().name(), candidate.equivalenceClass())) {
          activeQueues.unblock(candidate.queue());
        }
      }
    }
    Map<ClusterQueueCache, QueuedWorkload> heads = new LinkedHashMap<>();
    Map<ClusterQueueCache, QueuedWorkload> behindOthers = new LinkedHashMap<>();
    Set<ClusterQueueCache> others = new HashSet<>(candidates.inVain());
    candidates.plain().forEach(head -> others.add(head.queue()));
    for (ClusterQueueCache queue : activeQueues.drain()) {
      QueuedWorkload head = queue.active() ? queue.pending().head() : null;
      if (head != null && !others.contains(queue)) {
        restartFlavorSearch(queue);
        (candidates.leftOut().contains(queue) ? behindOthers : heads).put(queue, head);
      }
    }
    if (heads.isEmpty() && candidates.classes().isEmpty() && others.isEmpty()) {
      heads.putAll(behindOthers);
    } else {
      behindOthers.keySet().forEach(activeQueues::add);
    }
    for (InadmissibleIndex.InadmissibleQueue candidate : candidates.classes()) {
      if (!candidate.queue().queueing().headBlocks()) {
        heads.put(candidate.queue(), candidate.equivalenceClass().head());
        // Workloads behind the candidate are evaluated in a later cycle.
        activeQueues.unblock(candidate.queue());
      }
    }
    addClaimsOnPlaces(heads);
    return heads;
  }

  /**
   * Adds the heads of all trees that hold a claim, if a head of any tree may take places: nodes are
   * there for all trees.
   */
  private void addClaimsOnPlaces(Map<ClusterQueueCache, QueuedWorkload> heads) {
    if (heads.keySet().stream().noneMatch(ClusterQueueCache::topologyAware)) {
      return;
    }
    for (QuotaNode root : specRegistry.topologyTrees) {
      for (ClusterQueueCache queue : activeQueues.takeClaims(root)) {
        QueuedWorkload head = queue.active() ? queue.pending().head() : null;
        if (head != null && !heads.containsKey(queue)) {
          restartFlavorSearch(queue);
          heads.put(queue, head);
        }
      }
    }
  }

  /** Rebuilds the quota trees if specs changed, and requeues all inadmissible Workloads. */
  private void rebuildIfDirty() {
    if (!dirtySet.everything) {
      return;
    }
    specRegistry.hierarchy.rebuildIfDirty();
    inadmissibleIndex.clear();
    activeQueues.markAllChanged();
    specRegistry.topologyTrees.clear();
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
      if (cache.topologyAware()) {
        specRegistry.topologyTrees.add(cache.node().root());
      }
      cache.advanceQuotaGeneration();
      queue.pending.inadmissibleClasses().forEach(queue.pending::requeue);
      activeQueues.unblock(cache);
      if (!queue.active() && !before.equals(queue.problems)) {
        queue
            .pending
            .inOrder()
            .forEach(item -> unreportedExplanations.add(workloads.entryOf(item)));
      }
    }
    dirtySet.everything = false;
    dirtySet.all = true;
    reconsiderIneligible();
  }

  /** Whether the next cycle has nothing to evaluate, as far as is known without running it. */
  boolean idle() {
    return !dirtySet.everything
        && specRegistry.freed.isEmpty()
        && !secondPasses.isDue(now)
        && (gate.isClosed() || (activeQueues.isEmpty() && !inadmissibleIndex.hasReleases()));
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

  SpecRegistry registry() {
    return specRegistry;
  }

  DirtySet changes() {
    return dirtySet;
  }
}
