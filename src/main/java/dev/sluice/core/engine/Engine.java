package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.InadmissibleIndex;
import dev.sluice.core.scheduling.SchedulingCycle;
import dev.sluice.core.scheduling.SchedulingCycle.Strategies;
import java.time.Instant;
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
 * The engine: facts are folded in, decisions come out. It reads no clock and does no I/O: time is a
 * fact, and the same facts in the same order give the same decisions. Not thread-safe: {@link
 * SchedulerThread} is the thread that owns it.
 */
public final class Engine {

  private final SpecRegistry specRegistry = new SpecRegistry();
  private final DirtySet dirtySet = new DirtySet();
  private final InadmissibleIndex inadmissibleIndex;
  private final ActiveQueues activeQueues = new ActiveQueues();
  private final PodsReadyGate gate;
  private final Explanations explanations;
  private final UnreportedExplanations unreportedExplanations;
  private final UsageLedger usageLedger;
  private final WorkloadTable workloads;
  private final QueryHandler queryHandler;
  private final Optional<FairShareCalculator> shares;
  private final Strategies strategies;
  private final EligibilityCheck eligibilityCheck = new EligibilityCheck(specRegistry);
  private final OutcomeApplier outcomeApplier;
  private Instant now = Instant.EPOCH;
  private boolean deciding;
  private long cycles;

  /**
   * An engine that knows nothing and doesn't decide yet.
   *
   * @param decisions is given each decision; it must be brief and must not call back
   */
  public Engine(Consumer<Decision> decisions) {
    this(EngineOptions.DEFAULT, decisions);
  }

  /**
   * An engine that knows nothing and doesn't decide yet.
   *
   * @param rules how it decides
   * @param decisions is given each decision; it must be brief and must not call back
   */
  public Engine(EngineOptions rules, Consumer<Decision> decisions) {
    this.gate = new PodsReadyGate(rules.blockAdmission());
    this.explanations = new Explanations(specRegistry, activeQueues, gate);
    this.unreportedExplanations = new UnreportedExplanations(explanations::of);
    this.usageLedger = new UsageLedger(rules.turns(), specRegistry, activeQueues, dirtySet);
    FairSharing sharing = rules.sharing().orElse(null);
    if (sharing == null) {
      this.shares = Optional.empty();
      this.strategies = Strategies.classical(specRegistry::queueAt);
    } else {
      FairShareCalculator known = new FairShareCalculator(specRegistry.pairs);
      this.shares = Optional.of(known);
      this.strategies = Strategies.fair(sharing, known, specRegistry::queueAt);
    }
    this.inadmissibleIndex =
        new InadmissibleIndex(
            specRegistry::queueAt, shares.orElse(null), sharing == null && !rules.blockAdmission());
    QuotaAccounting quotaAccounting =
        new QuotaAccounting(specRegistry, inadmissibleIndex, activeQueues, dirtySet, gate);
    this.workloads =
        new WorkloadTable(
            specRegistry,
            quotaAccounting,
            dirtySet,
            unreportedExplanations,
            activeQueues,
            usageLedger);
    this.queryHandler = new QueryHandler(specRegistry, workloads, explanations, activeQueues, gate);
    this.outcomeApplier =
        new OutcomeApplier(
            specRegistry,
            workloads,
            activeQueues,
            inadmissibleIndex,
            dirtySet,
            unreportedExplanations,
            eligibilityCheck,
            gate,
            decisions);
  }

  /** Folds a fact in. */
  public void apply(SchedulerEvent schedulerEvent) {
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
      case SchedulerEvent.TimePassed(var instant) -> {
        now = instant;
        workloads.timePassed(instant);
        usageLedger.timePassed(instant);
      }
      case SchedulerEvent.DecidingEnabled(var enabled) -> {
        deciding = enabled;
        usageLedger.deciding(enabled);
      }
      case SchedulerEvent.FlavorChanged(var flavor) ->
          dirtySet.everything |= !flavor.equals(specRegistry.flavors.put(flavor.name(), flavor));
      case SchedulerEvent.FlavorRemoved(var name) ->
          dirtySet.everything |= specRegistry.flavors.remove(name) != null;
      case SchedulerEvent.ClusterQueueChanged(var queue) -> declare(queue);
      case SchedulerEvent.ClusterQueueRemoved(var name) -> removeClusterQueue(name);
      case SchedulerEvent.CohortChanged(var cohort) ->
          dirtySet.everything |= specRegistry.declare(cohort);
      case SchedulerEvent.CohortRemoved(var name) ->
          dirtySet.everything |= specRegistry.removeCohort(name);
      case SchedulerEvent.LocalQueueChanged(var queue) -> declare(queue.id(), queue);
      case SchedulerEvent.LocalQueueRemoved(var id) -> declare(id, null);
      case SchedulerEvent.LocalQueueUsed used -> usageLedger.restored(used);
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

  /** Those set aside for it may be in order now, and heads that block their queue may not be. */
  private void namespaceChanged(String name) {
    reconsiderIneligible();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueCache state = queue.state;
      QueuedWorkload head = activeQueues.blockedBy(queue.name);
      if (state != null && head != null && head.id().namespace().equals(name)) {
        activeQueues.unblock(state);
      }
    }
  }

  private void declare(ClusterQueueSpec spec) {
    if (spec.equals(specRegistry.clusterQueue(spec.name()).spec)) {
      return;
    }
    boolean isNew = specRegistry.queueState(spec.name()) == null;
    specRegistry.declare(spec);
    dirtySet.everything = true;
    if (isNew) {
      for (LocalQueueState localQueue : specRegistry.localQueuesOf(spec.name())) {
        workloads.replaceAll(localQueue, null);
      }
    }
    usageLedger.declared(specRegistry.clusterQueue(spec.name()));
  }

  private void removeClusterQueue(String name) {
    ClusterQueueState queue = specRegistry.clusterQueue(name);
    if (queue.spec == null) {
      return;
    }
    ClusterQueueCache state = queue.state;
    if (state != null) {
      activeQueues.remove(state);
    }
    specRegistry.removeClusterQueue(name);
    for (LocalQueueState localQueue : specRegistry.localQueuesOf(name)) {
      workloads.replaceAll(localQueue, queue);
    }
    usageLedger.declared(queue);
    dirtySet.everything = true;
  }

  private void declare(LocalQueueId id, @Nullable LocalQueueSpec spec) {
    LocalQueueState state = specRegistry.localQueue(id);
    if (Objects.equals(spec, state.spec)) {
      return;
    }
    ClusterQueueState former = specRegistry.clusterQueues.get(state.clusterQueue());
    specRegistry.declare(state, spec);
    workloads.replaceAll(state, former);
    usageLedger.declared(state);
    dirtySet.localQueues.add(id);
  }

  /** Those set aside for their namespace or their limits may be in order now. */
  private void reconsiderIneligible() {
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueCache state = queue.state;
      if (state == null) {
        continue;
      }
      for (QueuedWorkload item : queue.pending.heldWorkloads()) {
        if (workloads.known(item).kept == null) {
          reconsider(item, state);
        }
      }
      activeQueues.add(state);
    }
  }

  private void reconsider(QueuedWorkload item, ClusterQueueCache queue) {
    Optional<Explanation> trouble = eligibilityCheck.of(item, queue);
    if (trouble.isPresent() && !eligibilityCheck.ineligibility(item, queue)) {
      queue.pending().hold(item, trouble.get());
      unreportedExplanations.add(workloads.known(item));
    } else {
      queue.pending().release(item);
    }
  }

  /**
   * Runs one cycle if there is anything to look at.
   *
   * @return whether there was
   */
  public boolean cycle() {
    rebuildIfDirty();
    if (!deciding || gate.isClosed()) {
      return false;
    }
    inadmissibleIndex.requeueGated(activeQueues::add);
    Map<ClusterQueueCache, QueuedWorkload> heads = heads();
    if (heads.isEmpty()) {
      return false;
    }
    cycles++;
    activeQueues.begin(cycles);
    Set<QuotaNode> moved = new LinkedHashSet<>();
    SchedulingCycle schedulingCycle =
        new SchedulingCycle(
            strategies, specRegistry.flavors, eligibilityCheck::of, cycles, gate.admissions());
    for (CycleOutcome cycleOutcome : schedulingCycle.run(heads)) {
      if (outcomeApplier.apply(cycleOutcome, cycles, now)) {
        moved.add(cycleOutcome.queue().node().root());
      }
    }
    moved.forEach(activeQueues::activate);
    return true;
  }

  /** A head that went through its flavors in vain may do so again once holdings have changed. */
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

  /** Those in line whose queues are ready, and those asleep whom a release can help. */
  private Map<ClusterQueueCache, QueuedWorkload> heads() {
    List<InadmissibleIndex.InadmissibleQueue> candidates = List.of();
    if (inadmissibleIndex.hasReleases()) {
      candidates =
          inadmissibleIndex.candidates(
              activeQueues.active(),
              queueHead -> eligibilityCheck.of(queueHead.item(), queueHead.queue()).isPresent());
    }
    for (InadmissibleIndex.InadmissibleQueue candidate : candidates) {
      if (candidate.queue().isStrict()) {
        inadmissibleIndex.remove(candidate);
        if (activeQueues.isBlockedBy(candidate.queue().name(), candidate.equals())) {
          activeQueues.unblock(candidate.queue());
        }
      }
    }
    Map<ClusterQueueCache, QueuedWorkload> heads = new LinkedHashMap<>();
    for (ClusterQueueCache queue : activeQueues.take()) {
      QueuedWorkload head = queue.active() ? queue.pending().head() : null;
      if (head != null) {
        restartFlavorSearch(queue);
        heads.put(queue, head);
      }
    }
    for (InadmissibleIndex.InadmissibleQueue candidate : candidates) {
      if (!candidate.queue().isStrict()) {
        heads.put(candidate.queue(), candidate.equals().head());
        // Whoever stands in line behind it is looked at afterwards.
        activeQueues.unblock(candidate.queue());
      }
    }
    return heads;
  }

  /** Builds quota trees, if declarations changed, and looks at everything anew. */
  private void rebuildIfDirty() {
    if (!dirtySet.everything) {
      return;
    }
    specRegistry.forest.rebuildIfDirty();
    inadmissibleIndex.clear();
    activeQueues.allChanged();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      ClusterQueueSpec spec = queue.spec;
      ClusterQueueCache state = queue.state;
      if (spec == null || state == null) {
        continue;
      }
      List<InactiveReason> before = queue.problems;
      queue.problems = specRegistry.problemsOf(spec);
      state.active(queue.active());
      state.advanceQuotaGeneration();
      queue.pending.inadmissibleClasses().forEach(queue.pending::requeue);
      activeQueues.unblock(state);
      if (!queue.active() && !before.equals(queue.problems)) {
        queue.pending.inOrder().forEach(item -> unreportedExplanations.add(workloads.known(item)));
      }
    }
    dirtySet.everything = false;
    dirtySet.all = true;
    reconsiderIneligible();
  }

  /** Whether a cycle would find anything to look at, as far as is known. */
  boolean idle() {
    return !dirtySet.everything
        && (gate.isClosed() || (activeQueues.isEmpty() && !inadmissibleIndex.hasReleases()));
  }

  /** Questions about the state as it stands. */
  QueryHandler answers() {
    return queryHandler;
  }

  /** Explanations that people were not told yet. */
  UnreportedExplanations unreported() {
    return unreportedExplanations;
  }

  /** The share of a node; empty where queues don't share by weight. */
  Optional<DominantResourceShare> share(QuotaNode node) {
    return shares.map(known -> known.of(node));
  }

  SpecRegistry registry() {
    return specRegistry;
  }

  DirtySet changes() {
    return dirtySet;
  }

  /** How many Workloads it knows, whatever their stage. */
  public int workloads() {
    return workloads.size();
  }
}
