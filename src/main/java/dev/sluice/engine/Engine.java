package dev.sluice.engine;

import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.Decision;
import dev.sluice.model.Explanation;
import dev.sluice.model.Fact;
import dev.sluice.model.FairSharing;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;
import dev.sluice.model.QueueProblem;
import dev.sluice.queue.FlavorProgress;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.FairShares;
import dev.sluice.quota.QuotaNode;
import dev.sluice.quota.Share;
import dev.sluice.scheduling.Cycle;
import dev.sluice.scheduling.Cycle.Strategies;
import dev.sluice.scheduling.Outcome;
import dev.sluice.scheduling.Sleepers;
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
 * EngineLoop} is the thread that owns it.
 */
public final class Engine {

  private final Registry registry = new Registry();
  private final Changes changes = new Changes();
  private final Sleepers sleepers;
  private final Ready ready = new Ready();
  private final ReadinessGate gate;
  private final Explanations explanations;
  private final Untold untold;
  private final Ledger ledger;
  private final WorkloadTable workloads;
  private final Answers answers;
  private final Optional<FairShares> shares;
  private final Strategies strategies;
  private final Bars bars = new Bars(registry);
  private final Outcomes outcomes;
  private Instant now = Instant.EPOCH;
  private boolean deciding;
  private long cycles;

  /**
   * An engine that knows nothing and doesn't decide yet.
   *
   * @param decisions is given each decision; it must be brief and must not call back
   */
  public Engine(Consumer<Decision> decisions) {
    this(EngineRules.DEFAULT, decisions);
  }

  /**
   * An engine that knows nothing and doesn't decide yet.
   *
   * @param rules how it decides
   * @param decisions is given each decision; it must be brief and must not call back
   */
  public Engine(EngineRules rules, Consumer<Decision> decisions) {
    this.gate = new ReadinessGate(rules.blockAdmission());
    this.explanations = new Explanations(registry, ready, gate);
    this.untold = new Untold(explanations::of);
    this.ledger = new Ledger(rules.turns(), registry, ready, changes);
    FairSharing sharing = rules.sharing().orElse(null);
    if (sharing == null) {
      this.shares = Optional.empty();
      this.strategies = Strategies.classical(registry::queueAt);
    } else {
      FairShares known = new FairShares(registry.pairs);
      this.shares = Optional.of(known);
      this.strategies = Strategies.fair(sharing, known, registry::queueAt);
    }
    this.sleepers =
        new Sleepers(
            registry::queueAt, shares.orElse(null), sharing == null && !rules.blockAdmission());
    Holdings holdings = new Holdings(registry, sleepers, ready, changes, gate);
    this.workloads = new WorkloadTable(registry, holdings, changes, untold, ready, ledger);
    this.answers = new Answers(registry, workloads, explanations, ready, gate);
    this.outcomes =
        new Outcomes(registry, workloads, ready, sleepers, changes, untold, bars, gate, decisions);
  }

  /** Folds a fact in. */
  public void fold(Fact fact) {
    switch (fact) {
      case Fact.WorkloadPending(var workload) -> workloads.pending(workload);
      case Fact.WorkloadReserving(var workload) -> workloads.reserving(workload);
      case Fact.WorkloadReleased(var id, var version) -> workloads.released(id, version);
      case Fact.AdmissionWritten(var id, var version, var admitted) ->
          workloads.written(id, version, admitted);
      case Fact.AdmissionRefused(var id, var decided, var superseded) ->
          workloads.refused(id, decided, superseded);
      case Fact.EvictionRefused(var id, var decided) -> workloads.evictionRefused(id, decided);
      case Fact.TimePassed(var instant) -> {
        now = instant;
        workloads.timePassed(instant);
        ledger.timePassed(instant);
      }
      case Fact.DecidingEnabled(var enabled) -> {
        deciding = enabled;
        ledger.deciding(enabled);
      }
      case Fact.FlavorChanged(var flavor) ->
          changes.everything |= !flavor.equals(registry.flavors.put(flavor.name(), flavor));
      case Fact.FlavorRemoved(var name) ->
          changes.everything |= registry.flavors.remove(name) != null;
      case Fact.ClusterQueueChanged(var queue) -> declare(queue);
      case Fact.ClusterQueueRemoved(var name) -> removeClusterQueue(name);
      case Fact.CohortChanged(var cohort) -> changes.everything |= registry.declare(cohort);
      case Fact.CohortRemoved(var name) -> changes.everything |= registry.removeCohort(name);
      case Fact.LocalQueueChanged(var queue) -> declare(queue.id(), queue);
      case Fact.LocalQueueRemoved(var id) -> declare(id, null);
      case Fact.LocalQueueUsed used -> ledger.told(used);
      case Fact.NamespaceChanged(var name, var labels) -> {
        Map<String, String> before = registry.namespaces.put(name, labels);
        if (!labels.equals(before)) {
          namespaceChanged(name);
        }
      }
      case Fact.NamespaceRemoved(var name) -> {
        if (registry.namespaces.remove(name) != null) {
          namespaceChanged(name);
        }
      }
    }
  }

  /** Those set aside for it may be in order now, and heads that block their queue may not be. */
  private void namespaceChanged(String name) {
    reconsiderBarred();
    for (ClusterQueueState queue : registry.clusterQueues.values()) {
      QueueState state = queue.state;
      PendingItem head = ready.blockedBy(queue.name);
      if (state != null && head != null && head.id().namespace().equals(name)) {
        ready.unblock(state);
      }
    }
  }

  private void declare(ClusterQueueSpec spec) {
    if (spec.equals(registry.clusterQueue(spec.name()).spec)) {
      return;
    }
    boolean isNew = registry.queueState(spec.name()) == null;
    registry.declare(spec);
    changes.everything = true;
    if (isNew) {
      for (LocalQueueState localQueue : registry.localQueuesOf(spec.name())) {
        workloads.replaceAll(localQueue, null);
      }
    }
    ledger.declared(registry.clusterQueue(spec.name()));
  }

  private void removeClusterQueue(String name) {
    ClusterQueueState queue = registry.clusterQueue(name);
    if (queue.spec == null) {
      return;
    }
    QueueState state = queue.state;
    if (state != null) {
      ready.remove(state);
    }
    registry.removeClusterQueue(name);
    for (LocalQueueState localQueue : registry.localQueuesOf(name)) {
      workloads.replaceAll(localQueue, queue);
    }
    ledger.declared(queue);
    changes.everything = true;
  }

  private void declare(LocalQueueId id, @Nullable LocalQueueSpec spec) {
    LocalQueueState state = registry.localQueue(id);
    if (Objects.equals(spec, state.spec)) {
      return;
    }
    ClusterQueueState former = registry.clusterQueues.get(state.clusterQueue());
    registry.declare(state, spec);
    workloads.replaceAll(state, former);
    ledger.declared(state);
    changes.localQueues.add(id);
  }

  /** Those set aside for their namespace or their limits may be in order now. */
  private void reconsiderBarred() {
    for (ClusterQueueState queue : registry.clusterQueues.values()) {
      QueueState state = queue.state;
      if (state == null) {
        continue;
      }
      for (PendingItem item : queue.pending.setAsideItems()) {
        if (workloads.known(item).kept == null) {
          reconsider(item, state);
        }
      }
      ready.add(state);
    }
  }

  private void reconsider(PendingItem item, QueueState queue) {
    Optional<Explanation> trouble = bars.of(item, queue);
    if (trouble.isPresent() && !bars.block(item, queue)) {
      queue.pending().setAside(item, trouble.get());
      untold.add(workloads.known(item));
    } else {
      queue.pending().bringBack(item);
    }
  }

  /**
   * Runs one cycle if there is anything to look at.
   *
   * @return whether there was
   */
  public boolean cycle() {
    settle();
    if (!deciding || gate.isShut()) {
      return false;
    }
    sleepers.bringBackGated(ready::add);
    Map<QueueState, PendingItem> heads = heads();
    if (heads.isEmpty()) {
      return false;
    }
    cycles++;
    ready.begin(cycles);
    Set<QuotaNode> moved = new LinkedHashSet<>();
    Cycle cycle = new Cycle(strategies, registry.flavors, bars::of, cycles, gate.admissions());
    for (Outcome outcome : cycle.run(heads)) {
      if (outcomes.carryOut(outcome, cycles, now)) {
        moved.add(outcome.queue().node().root());
      }
    }
    moved.forEach(ready::stir);
    return true;
  }

  /** A head that went through its flavors in vain may do so again once holdings have changed. */
  private void letSearchAgain(QueueState queue) {
    PendingItem head = queue.pending().head();
    FlavorProgress progress = head == null ? null : head.flavorProgress();
    if (head != null
        && progress != null
        && progress.isInVain()
        && ready.changedSince(queue.node(), progress.cycle())) {
      head.flavorProgress(null);
    }
  }

  /** Those in line whose queues are ready, and those asleep whom a release can help. */
  private Map<QueueState, PendingItem> heads() {
    List<Sleepers.Sleeper> candidates = List.of();
    if (sleepers.anyReleased()) {
      candidates =
          sleepers.candidates(
              ready.inLine(), head -> bars.of(head.item(), head.queue()).isPresent());
    }
    for (Sleepers.Sleeper candidate : candidates) {
      if (candidate.queue().isStrict()) {
        sleepers.awake(candidate);
        if (ready.isBlockedBy(candidate.queue().name(), candidate.equals())) {
          ready.unblock(candidate.queue());
        }
      }
    }
    Map<QueueState, PendingItem> heads = new LinkedHashMap<>();
    for (QueueState queue : ready.take()) {
      PendingItem head = queue.active() ? queue.pending().head() : null;
      if (head != null) {
        letSearchAgain(queue);
        heads.put(queue, head);
      }
    }
    for (Sleepers.Sleeper candidate : candidates) {
      if (!candidate.queue().isStrict()) {
        heads.put(candidate.queue(), candidate.equals().eldest());
        // Whoever stands in line behind it is looked at afterwards.
        ready.unblock(candidate.queue());
      }
    }
    return heads;
  }

  /** Builds quota trees, if declarations changed, and looks at everything anew. */
  private void settle() {
    if (!changes.everything) {
      return;
    }
    registry.forest.settle();
    sleepers.clear();
    ready.allChanged();
    for (ClusterQueueState queue : registry.clusterQueues.values()) {
      ClusterQueueSpec spec = queue.spec;
      QueueState state = queue.state;
      if (spec == null || state == null) {
        continue;
      }
      List<QueueProblem> before = queue.problems;
      queue.problems = registry.problemsOf(spec);
      state.active(queue.active());
      state.advanceQuotaGeneration();
      queue.pending.parkedClasses().forEach(queue.pending::wake);
      ready.unblock(state);
      if (!queue.active() && !before.equals(queue.problems)) {
        queue.pending.inOrder().forEach(item -> untold.add(workloads.known(item)));
      }
    }
    changes.everything = false;
    changes.all = true;
    reconsiderBarred();
  }

  /** Whether a cycle would find anything to look at, as far as is known. */
  boolean idle() {
    return !changes.everything && (gate.isShut() || (ready.isEmpty() && !sleepers.anyReleased()));
  }

  /** Questions about the state as it stands. */
  Answers answers() {
    return answers;
  }

  /** Explanations that people were not told yet. */
  Untold untold() {
    return untold;
  }

  /** The share of a node; empty where queues don't share by weight. */
  Optional<Share> share(QuotaNode node) {
    return shares.map(known -> known.of(node));
  }

  Registry registry() {
    return registry;
  }

  Changes changes() {
    return changes;
  }

  /** How many Workloads it knows, whatever their stage. */
  public int workloads() {
    return workloads.size();
  }
}
