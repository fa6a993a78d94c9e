package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.ReferenceAssigner.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** What tests ask the reference about the world as it knows it; nothing is changed by asking. */
final class ReferenceQuestions {

  private final ReferenceEngine engine;
  private final ReferenceQueues world;
  private final ReferenceParking parking;
  private final ReferenceEngine.Rules rules;

  ReferenceQuestions(
      ReferenceEngine engine,
      ReferenceQueues world,
      ReferenceParking parking,
      ReferenceEngine.Rules rules) {
    this.engine = engine;
    this.world = world;
    this.parking = parking;
    this.rules = rules;
  }

  /**
   * Who may still be admitted although nothing is said to be left to do; empty if all is well.
   * Those that were parked because their pod sets compete don't count: when others take quota, a
   * pod set may be driven to another flavor, so that suddenly all fit; nobody looks until the next
   * flush. Nor do those that only fit without what heads of StrictFIFO queues keep free: they stay
   * in line, and those behind them wait, too. Nor do those that were skipped, and only fit in
   * flavors to which their pod sets don't come at the same time: each pod set goes on with its own
   * next flavor (docs/scheduling-semantics.md#flavor-assignment).
   */
  List<WorkloadId> wouldFit() {
    ReferenceTree tree = tree();
    List<ReferenceNominated> waiting = headsThatReserve();
    List<WorkloadId> result = new ArrayList<>();
    for (ClusterQueueSpec queue : world.queues.values()) {
      if (!engine.deciding() || !world.active(queue) || tree.cyclic(queue.name())) {
        continue;
      }
      for (ReferenceEntry entry : world.waitingIn(queue.name())) {
        boolean fits = fitsNow(entry, queue) && !parking.competed(entry, queue.name());
        boolean fitsBeside =
            fits
                && fitsBeside(waiting, considered(entry, queue))
                && engine.walk(entry, queue).stream().anyMatch(each -> fitsBeside(waiting, each));
        if (fitsBeside) {
          result.add(entry.id);
        }
        boolean isSkipped = fits ? !fitsBeside : isSkippedBeforeHeld(entry, queue, waiting);
        if (queue.strategy() == QueueingStrategy.STRICT_FIFO || isSkipped) {
          break;
        }
      }
    }
    return result;
  }

  /**
   * Whether a cycle skips it for heads of other queues, so that it stays in line, and doesn't come
   * to the reservation that would hold it.
   */
  private boolean isSkippedBeforeHeld(
      ReferenceEntry entry, ClusterQueueSpec queue, List<ReferenceNominated> waiting) {
    ReferenceNominated nominated = considered(entry, queue);
    return nominated.result().mode() == Mode.FIT
        && world.reservations.refuses(entry, queue.name(), nominated.result(), tree(), Set.of())
        && !fitsBeside(waiting, nominated);
  }

  /** The heads that stay in line in vain, and for whom each cycle keeps quota free. */
  private List<ReferenceNominated> headsThatReserve() {
    List<ReferenceNominated> result = new ArrayList<>();
    for (ClusterQueueSpec queue : world.queues.values()) {
      if (queue.strategy() == QueueingStrategy.STRICT_FIFO
          && world.active(queue)
          && !tree().cyclic(queue.name())) {
        world.waitingIn(queue.name()).stream()
            .findFirst()
            .map(head -> considered(head, queue))
            .filter(ReferenceCycle::reserves)
            .ifPresent(result::add);
      }
    }
    return result;
  }

  private ReferenceNominated considered(ReferenceEntry entry, ClusterQueueSpec queue) {
    return new ReferenceNominator(rules, world.reservations)
        .consider(entry, queue, world.snapshot(), Map.of(), Map.of());
  }

  /** Whether it fits although the cycle keeps quota free for those that it decides on before. */
  private boolean fitsBeside(List<ReferenceNominated> waiting, ReferenceNominated nominated) {
    ReferenceTree tree = tree().copy();
    for (ReferenceNominated head : waiting) {
      if (ReferenceCycle.order(world).compare(head, nominated) < 0) {
        tree.add(
            head.queue().name(),
            ReferenceCycle.reservation(head, tree),
            ReferenceCycle.isGuaranteed(head));
      }
    }
    return ReferenceCycle.fitsQuota(nominated, tree);
  }

  /**
   * Who of a single pod set fits, in which ClusterQueue, of those whose turn it may be: everyone in
   * a BestEffortFIFO queue, the head of a StrictFIFO queue. Left out are those that may start with
   * fewer pods behind a closed gate: with more they would preempt, and that comes first; and those
   * that found quota and no places: when others take that quota, they may be driven to another
   * flavor whose places are there, or come later, and nobody looks until the next flush.
   */
  Map<WorkloadId, String> singlesThatFit() {
    Map<WorkloadId, String> result = new HashMap<>();
    ReferenceTree tree = tree();
    for (ClusterQueueSpec queue : world.queues.values()) {
      if (engine.deciding() && world.active(queue) && !tree.cyclic(queue.name())) {
        boolean strict = queue.strategy() == QueueingStrategy.STRICT_FIFO;
        world.waitingIn(queue.name()).stream()
            .limit(strict ? 1 : Long.MAX_VALUE)
            .filter(entry -> entry.workload().shape().podSets().size() == 1)
            .filter(
                entry ->
                    !entry.workload().gated()
                        || entry.workload().shape().podSets().getFirst().spare() == 0)
            .filter(entry -> fitsNow(entry, queue))
            .filter(entry -> ReferenceSlices.othersWithQuota(world, entry).findAny().isEmpty())
            .filter(
                entry ->
                    !world.queuesWithTopologies().contains(queue.name())
                        || !parking.competed(entry, queue.name()))
            .forEach(entry -> result.put(entry.id, queue.name()));
      }
    }
    return result;
  }

  /**
   * Who waits in line before this one and may not be passed, whatever comes of them: in a
   * StrictFIFO queue everybody whose namespace matches, in a BestEffortFIFO queue those who ask for
   * the same at the same priority, unless it preempted before.
   */
  List<WorkloadId> passedBy(WorkloadId id, String clusterQueue) {
    ClusterQueueSpec queue = Objects.requireNonNull(world.queues.get(clusterQueue));
    boolean strict = queue.strategy() == QueueingStrategy.STRICT_FIFO;
    ReferenceEntry decided = Objects.requireNonNull(world.workloads.get(id.uid()));
    List<WorkloadId> result = new ArrayList<>();
    for (ReferenceEntry entry : world.waitingIn(clusterQueue)) {
      if (entry == decided) {
        return result;
      }
      // one that a budget held for its flavors comes back in the cycle that admits it
      boolean before = !decided.aside || ReferenceQueues.AGE.compare(entry, decided) < 0;
      if (before
          && staysInLine(entry)
          && (strict || entry.equivalenceClass().equals(decided.equivalenceClass()))) {
        result.add(entry.id);
      }
    }
    if (decided.aside) {
      return result;
    }
    throw new AssertionError(id + " doesn't wait in " + clusterQueue);
  }

  /** Whether one in line is still there when the next cycle looks at anybody. */
  private boolean staysInLine(ReferenceEntry entry) {
    return world.namespaceMatches(entry)
        && !world.isHeldAgain(entry)
        && !parking.isHeldAgain(entry, tree());
  }

  private boolean fitsNow(ReferenceEntry entry, ClusterQueueSpec queue) {
    if (!world.namespaceMatches(entry)
        || entry.workload().defect().isPresent()
        || world.atLocalLimit(entry)
        || parking.waitsForCheaper(entry, queue.name())
        || tree().atWorkloadLimit(queue.name(), world.queuesOfHolders())
        || (queue.rules().blocksUntilReady() && world.awaitsPods(queue.name()))) {
      return false;
    }
    ReferenceSnapshot now = world.snapshot();
    Predicate<RequestShape> fits =
        shape -> {
          ReferenceAssigner.Result result =
              rules
                  .placer(queue)
                  .complete(
                      now,
                      shape,
                      ReferenceNominator.assigner(entry, queue, now, Map.of(), Map.of(), rules)
                          .assign(shape));
          return result.mode() == Mode.FIT
              && !world.budgets.refuses(entry, queue.name(), result.usage())
              && !world.reservations.refuses(entry, queue.name(), result, now.tree(), Set.of());
        };
    RequestShape shape = entry.shape();
    if (world.budgets.refuses(entry, queue.name())) {
      return false;
    }
    rules.nodes().closed = world.reservations.closedTo(entry, queue);
    boolean open = fitsInPart(shape, fits);
    rules.nodes().closed = Set.of();
    return open || fitsInPart(shape, fits) || fitsElsewhere(entry, queue);
  }

  /** Whether it fits in flavors that it tries because something of others is kept. */
  private boolean fitsElsewhere(ReferenceEntry entry, ClusterQueueSpec queue) {
    ReferenceNominated nominated = considered(entry, queue);
    return nominated.result().mode() == Mode.FIT
        && !world.budgets.refuses(entry, queue.name(), nominated.result().usage())
        && !world.reservations.refuses(entry, queue.name(), nominated.result(), tree(), Set.of());
  }

  private static boolean fitsInPart(RequestShape shape, Predicate<RequestShape> fits) {
    return fits.test(shape)
        || new ReferenceReduction(shape).most(fits::test, good -> good).isPresent();
  }

  /**
   * Those who wait before this one in its queue and could have been admitted in its stead. Left out
   * are those whose pod sets compete, as in {@link #wouldFit}, where the head blocks nobody.
   */
  List<WorkloadId> skippedBy(WorkloadId id, String clusterQueue) {
    ClusterQueueSpec queue = Objects.requireNonNull(world.queues.get(clusterQueue));
    ReferenceEntry decided = Objects.requireNonNull(world.workloads.get(id.uid()));
    List<WorkloadId> result = new ArrayList<>();
    for (ReferenceEntry entry : world.waitingIn(clusterQueue)) {
      if (entry.id.equals(id)) {
        return result;
      }
      if (decided.aside && ReferenceQueues.AGE.compare(entry, decided) > 0) {
        continue;
      }
      boolean strict = queue.strategy() == QueueingStrategy.STRICT_FIFO;
      boolean fits = fitsNow(entry, queue) && (strict || !parking.competed(entry, clusterQueue));
      if ((strict && staysInLine(entry)) || fits) {
        result.add(entry.id);
      }
    }
    if (decided.aside) {
      return result;
    }
    throw new AssertionError(id + " doesn't wait in " + clusterQueue);
  }

  /** Who waits in a queue and isn't set aside, in order. */
  List<WorkloadId> waitingIn(String queue) {
    return world.waitingIn(queue).stream().map(entry -> entry.id).toList();
  }

  /** How long a run may take. */
  Optional<Duration> limitOf(String uid) {
    return rules.costs().bounds().getOrDefault(uid, RunBound.UNKNOWN).limit();
  }

  /** Whether the starts of any queue are planned. */
  boolean plans() {
    return world.queues.values().stream().anyMatch(queue -> queue.rules().backfill().isPresent());
  }

  /** Who has to go for what is kept, and whose job is asked to save its work before. */
  Set<ReferenceReservations.Overstay> overstays() {
    return world.reservations.overstays();
  }

  /** Whether any queue places pods on nodes. */
  boolean hasTopologies() {
    return !world.queuesWithTopologies().isEmpty();
  }

  /** Whether all flavors of a queue have topologies. */
  boolean impliesTopology(String queue) {
    ClusterQueueSpec spec = world.queues.get(queue);
    return spec != null
        && spec.groups().stream()
            .flatMap(group -> group.flavors().stream())
            .allMatch(each -> world.nodes.isTopologyFlavor(each.flavor()));
  }

  Optional<PendingWorkload> pendingOf(String uid) {
    ReferenceEntry entry = world.workloads.get(uid);
    return entry == null || !entry.waits() ? Optional.empty() : Optional.ofNullable(entry.pending);
  }

  /** Versions that were decided on and are not answered yet, by UID. */
  Map<String, Long> assumed() {
    Map<String, Long> result = new TreeMap<>();
    world.workloads.forEach(
        (uid, entry) -> {
          if (entry.assumed()) {
            result.put(uid, entry.version);
          }
        });
    return result;
  }

  /** Who holds quota as the API server says. */
  List<String> holders() {
    return world.workloads.entrySet().stream()
        .filter(each -> each.getValue().holding != null && !each.getValue().assumed())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Whose eviction is written, so that only the job has to stop. */
  List<String> evicted() {
    return world.workloads.entrySet().stream()
        .filter(each -> each.getValue().holding != null && each.getValue().holding.evicted())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** What a holder holds. */
  List<PodSetAssignment> heldBy(String uid) {
    ReferenceEntry.Holding holding = Objects.requireNonNull(world.workloads.get(uid)).holding;
    return holding == null ? List.of() : holding.podSets();
  }

  /** All that is known of what a holder holds. */
  ReferenceEntry.Holding holding(String uid) {
    return Objects.requireNonNull(Objects.requireNonNull(world.workloads.get(uid)).holding);
  }

  String clusterQueueOf(String uid) {
    ReferenceEntry.Holding holding = Objects.requireNonNull(world.workloads.get(uid)).holding;
    return holding == null ? "" : holding.clusterQueue();
  }

  WorkloadId idOf(String uid) {
    return Objects.requireNonNull(world.workloads.get(uid)).id;
  }

  LocalQueueId localQueueOf(String uid) {
    ReferenceEntry entry = Objects.requireNonNull(world.workloads.get(uid));
    return entry.holding != null
        ? entry.holding.localQueue()
        : Objects.requireNonNull(entry.pending).localQueue();
  }

  Map<String, ClusterQueueSpec> queues() {
    return world.queues;
  }

  /** The quota tree with all that is held. */
  ReferenceTree tree() {
    return world.tree();
  }

  /** Shares, where queues share fairly; not of those whose chain of parents is a cycle. */
  Optional<ReferenceShares> shares() {
    return rules.sharing().map(sharing -> new ReferenceShares(tree()));
  }

  /** The world with all who hold quota. */
  ReferenceSnapshot snapshot() {
    return world.snapshot();
  }

  /** Whether quota was given back since the last cycle: the next one begins with a flush. */
  boolean flushIsDue() {
    return parking.flushIsDue();
  }

  /** All that a cycle may change but for its number; equal when nothing happened. */
  String state() {
    StringBuilder text = new StringBuilder(parking.state()).append(world.sticky);
    for (ReferenceEntry entry : world.workloads.values()) {
      text.append(entry.id.uid())
          .append(entry.aside)
          .append(entry.attempts)
          .append(entry.pausesUntil)
          .append(entry.walked)
          .append(entry.progress)
          .append(entry.version)
          .append(entry.assumed())
          .append(entry.eviction);
    }
    return text.toString();
  }

  /** Who is to be evicted, and the version at which that was decided. */
  Map<String, Long> evictions() {
    Map<String, Long> result = new TreeMap<>();
    world.workloads.forEach(
        (uid, entry) -> entry.eviction.ifPresent(version -> result.put(uid, version)));
    return result;
  }

  /** How many wait in a ClusterQueue, hold its quota, and are admitted there. */
  record Counts(int pending, int reserving, int admitted) {}

  Counts counts(String queue) {
    int pending = 0;
    int reserving = 0;
    int admitted = 0;
    for (ReferenceEntry entry : world.workloads.values()) {
      if (entry.waits() && world.queueOf(entry).equals(Optional.of(queue))) {
        pending++;
      }
      if (entry.holding != null && entry.holding.clusterQueue().equals(queue)) {
        reserving++;
        admitted += entry.holding.admitted() ? 1 : 0;
      }
    }
    return new Counts(pending, reserving, admitted);
  }

  /** How many different requests wait in a ClusterQueue, whatever their pod sets are called. */
  int differentRequests(String queue) {
    Set<ReferenceEntry.EquivalenceClass> different = new HashSet<>();
    for (ReferenceEntry entry : world.workloads.values()) {
      if (entry.waits() && world.queueOf(entry).equals(Optional.of(queue))) {
        RequestShape shape = entry.shape();
        different.add(
            new ReferenceEntry.EquivalenceClass(
                new RequestShape(
                    shape.podSets().stream().map(podSet -> podSet.withName("any")).toList(),
                    shape.guaranteed(),
                    shape.preemption(),
                    Optional.empty(),
                    Optional.empty(),
                    shape.run(),
                    shape.cost()),
                entry.workload().priority()));
      }
    }
    return different.size();
  }

  /**
   * What is charged for an admission: without what the slice that is replaced holds, and without
   * what a slice gives up that holds quota in place of the admitted one.
   */
  Map<FlavorResource, Long> charged(Decided.Admission admission) {
    Map<FlavorResource, Long> usage = ReferenceEntry.usage(admission.podSets());
    Map<FlavorResource, Long> held =
        Optional.ofNullable(world.workloads.get(admission.id().uid()))
            .flatMap(entry -> entry.replaced)
            .map(replaced -> ReferenceEntry.usage(replaced.podSets()))
            .orElse(Map.of());
    usage.replaceAll((pair, amount) -> Math.max(0, amount - held.getOrDefault(pair, 0L)));
    for (ReferenceEntry each : world.workloads.values()) {
      if (each.holding != null
          && each.holding.clusterQueue().equals(admission.clusterQueue())
          && each.replaced.filter(it -> it.uid().equals(admission.id().uid())).isPresent()) {
        Map<FlavorResource, Long> given = each.charged();
        usage.replaceAll((pair, amount) -> Math.max(0, amount - given.getOrDefault(pair, 0L)));
      }
    }
    return usage;
  }
}
