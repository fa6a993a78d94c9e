package dev.sluice.reference;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.ReferenceEntry.Holding;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The engine as the contract tells it: facts are folded in, and each cycle works everything out
 * anew from a copy of the world.
 */
final class ReferenceEngine {

  /** What is looked at anew. */
  enum Waking {
    /** After a flush every class that was parked; in each cycle the head of a StrictFIFO queue. */
    ALL,
    /**
     * Only those of which some lack is over when their turn comes: others would be found not to fit
     * again.
     */
    HELPED
  }

  /**
   * What is not said by the contract, or varied by a test.
   *
   * @param flavors the flavors that exist
   * @param longestWalk how often in a row a Workload is looked at because of untried flavors
   * @param preempting whether anybody may be preempted; otherwise what would need it doesn't fit
   * @param blocking whether nobody is admitted while pods of admitted Workloads are not ready
   * @param sharing how queues share fairly; empty: they don't
   * @param nodes topologies and nodes
   * @param costs what flavors cost
   */
  record Rules(
      Map<String, Flavor> flavors,
      int longestWalk,
      boolean preempting,
      boolean blocking,
      boolean recomputing,
      Optional<FairSharing> sharing,
      ReferenceNodes nodes,
      ReferenceCosts costs) {

    /** The same without some flavors. */
    Rules without(Set<String> closed) {
      Map<String, Flavor> rest = new HashMap<>(flavors);
      rest.keySet().removeAll(closed);
      return new Rules(rest, longestWalk, preempting, blocking, recomputing, sharing, nodes, costs);
    }

    /** The same where nobody is preempted. */
    Rules withoutPreemption() {
      return new Rules(flavors, longestWalk, false, blocking, recomputing, sharing, nodes, costs);
    }

    /** Who finds places for Workloads of a queue. */
    ReferencePlacer placer(ClusterQueueSpec queue) {
      return new ReferencePlacer(nodes, queue, flavors);
    }
  }

  private final ReferenceQueues world;
  private final ReferenceSlices slices;
  private final Map<String, Long> generations = new HashMap<>();
  private final ReferenceParking parking;
  private final Duration refusedPause;
  private final Rules rules;
  private final Set<LocalQueueId> freed = new HashSet<>();
  private final ReferenceBackfill backfill;

  /** How long runs take at most, by Workload. */
  private final Map<String, RunBound> bounds = new HashMap<>();

  /** Who may be looked at again, unless others have taken the room until the next cycle. */
  private final Set<ReferenceEntry> returned = new HashSet<>();

  /** The Workloads that were queued anew since the last cycle began: their slice changed. */
  private final Set<ReferenceEntry> reentered = new HashSet<>();

  private boolean deciding;
  private long cycles;
  private boolean looked;

  /** Whether somebody who fits was turned away, since pods are not ready; until they are. */
  private boolean turnedAway;

  /**
   * An engine that knows nothing.
   *
   * @param refusedPause how long a Workload rests whose admission could not be written
   * @param waking what a flush wakes
   * @param longestWalk how often in a row a Workload is looked at because of untried flavors
   * @param preempting whether anybody may be preempted
   */
  ReferenceEngine(Duration refusedPause, Waking waking, int longestWalk, boolean preempting) {
    this(refusedPause, waking, longestWalk, preempting, EngineOptions.DEFAULT);
  }

  /**
   * An engine that knows nothing.
   *
   * @param preempting whether anybody may be preempted
   * @param rules what is said by the configuration
   */
  ReferenceEngine(
      Duration refusedPause,
      Waking waking,
      int longestWalk,
      boolean preempting,
      EngineOptions rules) {
    this(refusedPause, waking, longestWalk, preempting, rules, TopologyFlaw.NONE);
  }

  /**
   * An engine that knows nothing.
   *
   * @param flaw a rule of placement that it breaks
   */
  ReferenceEngine(
      Duration refusedPause,
      Waking waking,
      int longestWalk,
      boolean preempting,
      EngineOptions rules,
      TopologyFlaw flaw) {
    this.world = new ReferenceQueues(rules.topology(), flaw, rules.order().repeatLimit());
    this.slices = new ReferenceSlices(world);
    this.refusedPause = refusedPause;
    this.parking = new ReferenceParking(world, waking);
    this.rules =
        new Rules(
            world.flavors,
            longestWalk,
            preempting,
            rules.blockAdmission(),
            rules.order().recomputesTargets(),
            rules.fairSharing(),
            world.nodes,
            new ReferenceCosts(world.flavors, world.budgets.prices, bounds));
    this.backfill =
        new ReferenceBackfill(
            world,
            this.rules,
            () -> new ReferenceCycle(world, parking, generations, this.rules, cycles + 1),
            () -> {
              share();
              parking.forgetThePassed();
            });
  }

  void fold(SchedulerEvent schedulerEvent) {
    switch (schedulerEvent) {
      case SchedulerEvent.FlavorChanged(var flavor) -> {
        if (!flavor.equals(world.flavors.put(flavor.name(), flavor))) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.FlavorRemoved(var name) -> {
        if (world.flavors.remove(name) != null) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.ClusterQueueChanged(var queue) -> {
        ClusterQueueSpec before = world.queues.put(queue.name(), queue);
        if (!queue.equals(before)) {
          if (before != null && before.strategy() != queue.strategy()) {
            world.endAllPauses(queue.name());
          }
          world.workloads.values().stream()
              .filter(
                  entry -> entry.waits() && world.queueOf(entry).equals(Optional.of(queue.name())))
              .forEach(entry -> entry.progress = Map.of());
          declarationsChanged();
        }
      }
      case SchedulerEvent.ClusterQueueRemoved(var name) -> {
        if (world.queues.remove(name) != null) {
          declarationsChanged();
          world.workloads.values().stream()
              .filter(entry -> entry.waits() && world.queueOf(entry).equals(Optional.of(name)))
              .forEach(this::reenter);
        }
      }
      case SchedulerEvent.CohortChanged(var cohort) -> {
        if (!cohort.equals(world.cohorts.put(cohort.name(), cohort))) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.CohortRemoved(var name) -> {
        if (world.cohorts.remove(name) != null) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.LocalQueueChanged(var queue) -> {
        LocalQueueSpec before = world.localQueues.put(queue.id(), queue);
        if (before == null
            || !before.clusterQueue().equals(queue.clusterQueue())
            || before.stopPolicy() != queue.stopPolicy()) {
          localQueueChanged(queue.id());
        } else if (!before.maxWorkloads().equals(queue.maxWorkloads())) {
          returned.addAll(world.freed(queue.id()));
        }
      }
      case SchedulerEvent.LocalQueueRemoved(var id) -> {
        if (world.localQueues.remove(id) != null) {
          localQueueChanged(id);
        }
      }
      case SchedulerEvent.NamespaceChanged(var name, var labels) -> {
        if (!labels.equals(world.namespaces.put(name, labels))) {
          namespaceChanged(name);
        }
      }
      case SchedulerEvent.NamespaceRemoved(var name) -> {
        if (world.namespaces.remove(name) != null) {
          namespaceChanged(name);
        }
      }
      case SchedulerEvent.BudgetChanged(var budget, var spent) -> world.budgets.declare(budget);
      case SchedulerEvent.ReservationsChanged(var kept) -> world.reservations.declare(kept);
      case SchedulerEvent.BudgetRemoved(var name) -> world.budgets.remove(name);
      case SchedulerEvent.PricesChanged(var flavor, var perHour) -> {
        if (world.budgets.price(flavor, perHour)) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.TopologyChanged(var topology) -> {
        if (!topology.equals(world.nodes.topologies.put(topology.name(), topology))) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.TopologyRemoved(var name) -> {
        if (world.nodes.topologies.remove(name) != null) {
          declarationsChanged();
        }
      }
      case SchedulerEvent.NodeChanged(var node) -> placesChanged(world.nodes.set(node));
      case SchedulerEvent.NodeRemoved(var name) -> placesChanged(world.nodes.remove(name));
      case SchedulerEvent.NodeUsageChanged changed -> {
        boolean matters = world.nodes.matters(changed);
        placesChanged(world.nodes.use(changed));
        if (matters) {
          world.queuesWithTopologies().forEach(world::changed);
        }
      }
      case SchedulerEvent.RunBounded(var id, var bound) -> {
        RunBound before = bounds.put(id.uid(), bound);
        ReferenceEntry bounded = world.workloads.get(id.uid());
        if (before != null && bounded != null && bounded.holding != null) {
          promises().told(id.uid(), before, bound);
        }
        world.reservations.bound(id.uid(), bound, bounded != null);
        if (bounded != null
            && bounded.holding != null
            && world.queues.containsKey(bounded.holding.clusterQueue())) {
          parking.endWaitsIn(world.tree().tree(bounded.holding.clusterQueue()));
        }
      }
      case SchedulerEvent.PlacementRefused refused ->
          throw new IllegalArgumentException("no second pass here: " + refused);
      case SchedulerEvent.WorkloadPending(var workload) -> {
        pending(workload);
        world.reservations.demandChanged();
      }
      case SchedulerEvent.WorkloadReserving(var workload) -> reserving(workload);
      case SchedulerEvent.WorkloadReleased(var id, var version) -> {
        ReferenceEntry entry = world.workloads.get(id.uid());
        if (entry != null
            && (entry.assumed() ? version > entry.version : version >= entry.version)) {
          hold(entry, null);
          parking.forgetBlock(id.uid());
          world.workloads.remove(id.uid());
        }
        if (version == Long.MAX_VALUE) {
          world.sticky.values().removeIf(id.uid()::equals);
          world.repeats.forget(id.uid());
        }
        if (version == Long.MAX_VALUE && !world.workloads.containsKey(id.uid())) {
          bounds.remove(id.uid());
          promises().deleted(id.uid());
          world.reservations.forget(id.uid());
        }
        world.reservations.demandChanged();
      }
      case SchedulerEvent.AdmissionWritten(var id, var version, var admitted) -> {
        ReferenceEntry entry = world.workloads.get(id.uid());
        if (entry != null && version > entry.version && entry.assumed()) {
          Holding holding = Objects.requireNonNull(entry.holding);
          entry.version = version;
          entry.pending = null;
          entry.holding = holding.written(admitted);
        }
      }
      case SchedulerEvent.LocalQueueUsed used -> {
        // Past use doesn't count here.
      }
      case SchedulerEvent.EvictionRefused(var id, var decided) -> {
        ReferenceEntry entry = world.workloads.get(id.uid());
        if (entry != null && entry.eviction.equals(Optional.of(decided))) {
          entry.eviction = Optional.empty();
          world.repeats.refused(id.uid(), world.sticky);
          world.changed(entry.holder().queue());
        }
      }
      case SchedulerEvent.AdmissionRefused(var id, var decided, var superseded) ->
          refused(id, decided, superseded);
      case SchedulerEvent.TimePassed(var instant) -> {
        List<ReferenceEntry> resting =
            world.workloads.values().stream()
                .filter(entry -> entry.waits() && entry.aside && world.backingOff(entry))
                .toList();
        Instant before = world.now;
        world.now = instant;
        world.budgets.pass(instant);
        world.reservations.pass(instant);
        endProtections(before);
        for (String queue : world.repeats.pass(instant)) {
          if (world.queues.containsKey(queue)) {
            world.changed(queue);
            parking.released(queue);
          }
        }
        parking.endWaitsForCheaper();
        resting.stream().filter(entry -> !world.backingOff(entry)).forEach(this::enter);
        world.endPauses();
      }
      case SchedulerEvent.DecidingEnabled(var enabled) -> deciding = enabled;
    }
    if (deciding) {
      world.budgets.count();
    }
    if (world.budgets.released || world.reservations.released) {
      world.bringBackThoseInOrder();
    }
    freed.stream().filter(world::isLimited).forEach(id -> returned.addAll(world.freed(id)));
    freed.clear();
    share();
    parking.forgetThePassed();
    turnedAway &= world.awaitsPods();
  }

  /** Trees in which somebody is no longer protected, or may preempt now, are looked at anew. */
  private void endProtections(Instant before) {
    ReferenceTree tree = world.tree();
    for (ReferenceEntry entry : world.workloads.values()) {
      if (world.ends(entry, tree).stream()
          .anyMatch(end -> end.isAfter(before) && !end.isAfter(world.now))) {
        String queue =
            entry.holding != null
                ? entry.holding.clusterQueue()
                : world.queueOf(entry).orElseThrow();
        world.changed(queue);
        parking.released(queue);
      }
    }
  }

  /** Slices that share quota are charged anew, and replacements ask for what they have more. */
  private void share() {
    slices.share(
        entry -> {
          String queue = entry.holder().queue();
          world.changed(queue);
          generations.merge(queue, 1L, Long::sum);
          if (world.queues.containsKey(queue)) {
            parking.released(queue);
          }
          placesChanged(!entry.holder().placed().isEmpty());
        },
        this::reenter);
  }

  private void namespaceChanged(String name) {
    world.bringBackThoseInOrder();
    parking.forgetBlocksOf(name);
  }

  /** Everything that is parked is looked at anew, and who was skipped goes round once more. */
  private void declarationsChanged() {
    parking.forgetAll();
    for (String queue : world.queues.keySet()) {
      generations.merge(queue, 1L, Long::sum);
      world.changed(queue);
    }
    world.bringBackThoseDeclaredInOrder();
  }

  private void localQueueChanged(LocalQueueId id) {
    for (ReferenceEntry entry : world.workloads.values()) {
      if (entry.waits() && Objects.requireNonNull(entry.pending).localQueue().equals(id)) {
        reenter(entry);
      }
    }
  }

  /** Who comes, also after it was away, doesn't profit from whom it preempted before. */
  private ReferenceEntry entry(WorkloadId id) {
    if (!world.workloads.containsKey(id.uid())) {
      world.repeats.forget(id.uid());
      world.workloads.put(id.uid(), new ReferenceEntry(id));
    }
    return Objects.requireNonNull(world.workloads.get(id.uid()));
  }

  private void pending(PendingWorkload workload) {
    ReferenceEntry entry = entry(workload.id());
    PendingWorkload before = entry.pending;
    boolean waited = entry.waits();
    if (workload.version() < entry.version
        || (workload.version() == entry.version && !waited)
        || (before != null && workload.equals(before))) {
      return;
    }
    entry.version = workload.version();
    boolean otherRequest =
        waited
            && before != null
            && (before.priority() != workload.priority()
                || !before.shape().equals(workload.shape()));
    if (otherRequest || entry.isOfAnother(workload.localQueue())) {
      world.repeats.forget(entry.id.uid());
    }
    if (waited && before != null && !ReferenceEntry.sameButForVersion(before, workload)) {
      entry.pending = null; // it leaves its class, even if it comes back to it
      parking.forgetThePassed();
    }
    entry.pending = workload;
    hold(entry, null);
    boolean stays =
        waited
            && before != null
            && ReferenceEntry.sameButForVersion(before, workload)
            && !(entry.awaitsNews || entry.retryAt != null);
    if (!stays) {
      enter(entry);
    }
  }

  private void reserving(ReservingWorkload workload) {
    ReferenceEntry entry = entry(workload.id());
    boolean known = entry.holding != null && !entry.assumed();
    if (workload.version() < entry.version || (workload.version() == entry.version && !known)) {
      return;
    }
    if (entry.isOfAnother(workload.localQueue())) {
      world.repeats.forget(entry.id.uid());
    }
    entry.version = workload.version();
    entry.pending = null;
    hold(entry, Holding.of(workload));
    if (workload.evicted()) {
      entry.eviction = Optional.empty();
    }
  }

  private void refused(WorkloadId id, long decided, boolean superseded) {
    ReferenceEntry entry = world.workloads.get(id.uid());
    if (entry == null || !entry.assumed() || entry.version != decided) {
      return;
    }
    if (deciding) {
      world.budgets.forget(id.uid());
    }
    hold(entry, null);
    enter(entry);
    entry.aside = true;
    entry.awaitsNews = superseded;
    entry.retryAt = superseded ? null : world.now.plus(refusedPause);
  }

  /** Changes what a Workload holds, and remembers whose tree may profit. */
  private void hold(ReferenceEntry entry, @Nullable Holding holding) {
    Holding before = entry.holding;
    Optional<ReferenceHolder> then = before == null ? Optional.empty() : seen(entry);
    ReferenceTree tree = world.tree();
    List<Instant> protectedBefore = world.ends(entry, tree);
    boolean evictedBefore = before != null && entry.holder().evicted();
    entry.holding = holding;
    if (holding == null) {
      entry.eviction = Optional.empty();
    }
    if (!then.equals(holding == null ? Optional.empty() : seen(entry))) {
      then.ifPresent(holder -> world.changed(holder.queue()));
      if (holding != null) {
        world.changed(holding.clusterQueue());
      }
    }
    if (before != null && (holding == null || !holding.sameAmountsAs(before))) {
      freed.add(before.localQueue());
    }
    ClusterQueueSpec queue = before == null ? null : world.queues.get(before.clusterQueue());
    if (before != null
        && queue != null
        && queue.strategy() == QueueingStrategy.STRICT_PRIORITY
        && (holding == null || !holding.holdsTheSameAs(before))) {
      world.endAllPauses(before.clusterQueue());
    }
    placesChanged(
        holding != null
            && isSpread(holding)
            && (before == null || !holding.holdsTheSameAs(before)));
    if (before == null
        || (holding != null
            && holding.holdsTheSameAs(before)
            && holding.priority() == before.priority()
            && holding.evictable() == before.evictable()
            && (protectedBefore.equals(world.ends(entry, tree))
                || entry.holder().evicted() != evictedBefore))) {
      return;
    }
    placesChanged(
        !before.placed().isEmpty() && (holding == null || !holding.holdsTheSameAs(before)));
    generations.merge(before.clusterQueue(), 1L, Long::sum);
    if (world.queues.containsKey(before.clusterQueue())) {
      parking.released(before.clusterQueue());
    }
  }

  /** Whether others may be placed where they couldn't, because one more group counts. */
  private static boolean isSpread(Holding holding) {
    return holding.placed().stream().anyMatch(each -> each.topology().member().isPresent());
  }

  /** How preemption sees one that holds quota, whatever its version. */
  private static Optional<ReferenceHolder> seen(ReferenceEntry entry) {
    return Optional.of(entry.holder().withVersion(0).withoutProtection());
  }

  private void enter(ReferenceEntry entry) {
    parking.forgetBlock(entry.id.uid());
    returned.remove(entry); // in line as everybody: nobody looks whether its LocalQueue is full
    world.enter(entry);
  }

  private void reenter(ReferenceEntry entry) {
    reentered.add(entry);
    parking.forgetBlock(entry.id.uid());
    returned.remove(entry);
    world.reenter(entry);
  }

  /** What is known before anybody is looked at, and is remembered whoever is. */
  private void begin() {
    world.cycleBegins();
    if (world.budgets.released || world.reservations.released) {
      world.holdAgain();
      world.budgets.released = false;
      world.reservations.released = false;
      world.bringBackThoseInOrder();
    }
    world.inLine();
    parking.forgetThePassed();
    backfill.begin();
  }

  /** Holds those again that came back and may not start any more, whoever is looked at. */
  private void holdAgain() {
    if (deciding()) {
      parking.holdAgain(world.tree());
    }
  }

  /** One cycle: what was decided, in order. */
  List<Decided> cycle() {
    begin();
    return decide();
  }

  private List<Decided> decide() {
    looked = false;
    reentered.clear();
    if (!deciding) {
      return List.of();
    }
    cycles++;
    if (turnedAway) {
      return List.of();
    }
    returned.stream().filter(world::mustWaitForLimit).forEach(entry -> entry.aside = true);
    returned.clear();
    parking.endWaitsForWhatWasTaken(world.tree());
    parking.wake(world.tree());
    ReferenceCycle cycle = new ReferenceCycle(world, parking, generations, rules, cycles);
    List<Decided> decided = cycle.run();
    looked = cycle.looked();
    turnedAway = cycle.turnedAway();
    decided.stream()
        .filter(Decided.Admission.class::isInstance)
        .forEach(each -> promises().started(each.clusterQueue(), each.id(), true, world.now));
    placesChanged(
        decided.stream()
            .anyMatch(
                each ->
                    each instanceof Decided.Admission admission
                        && admission.podSets().stream()
                            .anyMatch(podSet -> podSet.topology().member().isPresent())));
    share();
    parking.forgetThePassed();
    return decided;
  }

  /**
   * One cycle for which there is a reason at some queues only. In trees without any nothing may
   * come of it, and it isn't remembered who stood aside nor how far anybody's search through the
   * flavors came, as in {@link #idleCycles}; nor how far that of the head of another StrictFIFO
   * queue without any came, which can't fit whatever others do. At other queues without any, those
   * who were looked at because quota was given back, and didn't get it beside others, are known to
   * lack what they lacked.
   *
   * @param reason whether there is one at a ClusterQueue
   */
  List<Decided> cycle(Predicate<String> reason) {
    begin();
    holdAgain();
    ReferenceTree tree = world.tree();
    Set<String> passedOver =
        world.queues.keySet().stream()
            .filter(reason.negate())
            .collect(Collectors.toUnmodifiableSet());
    Map<ReferenceEntry, ReferenceEntry.Search> before =
        searches(passedOver.stream().flatMap(queue -> world.waitingIn(queue).stream()));
    Map<ReferenceEntry, ReferenceEntry.Search> searches =
        searches(
            passedOver.stream()
                .filter(queue -> isStrict(queue) || tree.tree(queue).stream().noneMatch(reason))
                .flatMap(queue -> world.waitingIn(queue).stream()));
    long cycleBefore = cycles;
    List<Decided> decided = decide();
    // A replacement that was queued anew, since its slice is evicted now, stays aside.
    searches.keySet().removeAll(reentered);
    before.keySet().removeAll(reentered);
    searches.forEach(ReferenceEntry::search);
    // A search of the cycle before is one still: this one would have found the same.
    searches.keySet().stream()
        .filter(entry -> entry.progressCycle == cycleBefore)
        .forEach(entry -> entry.progressCycle = cycles);
    for (String queue : passedOver) {
      for (ReferenceEntry entry : world.waitingIn(queue)) {
        if (parking.parksAgain(entry, queue) && before.containsKey(entry)) {
          entry.search(Objects.requireNonNull(before.get(entry)));
        }
      }
    }
    return decided;
  }

  private boolean isStrict(String queue) {
    return Objects.requireNonNull(world.queues.get(queue)).strategy()
        == QueueingStrategy.STRICT_FIFO;
  }

  /**
   * Who may start before the heads of queues with back-fill, when nobody is left to look at.
   *
   * @param planned whether a queue is planned of which it isn't said: whose head nobody may look at
   *     while pods are not ready
   * @param turns as in {@link ReferenceBackfill#pass}
   */
  List<Decided> backfill(Predicate<String> planned, List<String> turns) {
    backfill.planned().clear();
    return deciding ? backfill.pass(queue -> !turnedAway || planned.test(queue), turns) : List.of();
  }

  /** When those are planned to start, by UID, whom the last pass planned or not. */
  Map<String, Optional<PlannedStart>> planned() {
    return backfill.planned();
  }

  /** What was promised to those that are planned. */
  ReferencePromises promises() {
    return backfill.promises();
  }

  /** Whether the last cycle found anything that it could change. */
  boolean looked() {
    return looked;
  }

  /** What a Workload gets in the next cycles if each skips it, as {@link ReferenceCycle#walk}. */
  List<ReferenceNominated> walk(ReferenceEntry entry, ClusterQueueSpec queue) {
    return new ReferenceCycle(world, parking, generations, rules, cycles + 1).walk(entry, queue);
  }

  /** Whether decisions are made. */
  boolean deciding() {
    return deciding && !turnedAway;
  }

  /**
   * A cycle that nobody has a reason for: nothing may come of it, and it isn't remembered who stood
   * aside nor how far anybody's search through the flavors came. How often the loop of the contract
   * turns while nothing happens isn't said.
   *
   * @param rounds how many of them, if need be
   * @return what was decided; there may be no more cycles if that is anything
   */
  List<Decided> idleCycles(int rounds) {
    begin();
    holdAgain();
    Map<ReferenceEntry, ReferenceEntry.Search> searches =
        searches(world.workloads.values().stream());
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < rounds && seen.add(questions().state()); i++) {
      List<Decided> decided = cycle();
      cycles--;
      if (!decided.isEmpty()) {
        return decided;
      }
    }
    searches.forEach(ReferenceEntry::search);
    return List.of();
  }

  /** How far searches through the flavors came, by Workload. */
  private static Map<ReferenceEntry, ReferenceEntry.Search> searches(
      Stream<ReferenceEntry> entries) {
    Map<ReferenceEntry, ReferenceEntry.Search> searches = new HashMap<>();
    entries.forEach(entry -> searches.put(entry, entry.search()));
    return searches;
  }

  /** What tests ask. */
  ReferenceQuestions questions() {
    return new ReferenceQuestions(this, world, parking, rules);
  }

  /** Somebody may find room on nodes: all queues with topologies are looked at again. */
  private void placesChanged(boolean relevant) {
    if (relevant) {
      for (String queue : world.queuesWithTopologies()) {
        parking.released(queue);
        world.changed(queue);
      }
    }
  }
}
