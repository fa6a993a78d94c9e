package dev.sluice.core.scheduling;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CycleStatistics.TimedRule;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.NominatedWorkload.Search;
import dev.sluice.core.scheduling.flavor.AssignedPlaces;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.FlavorAssigner;
import dev.sluice.core.scheduling.flavor.FlavorAssigner.PreemptionOracle;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import dev.sluice.core.scheduling.flavor.TopologyAssigner;
import dev.sluice.core.scheduling.preemption.PreemptionRequest;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.scheduling.preemption.Preemptor;
import dev.sluice.core.scheduling.preemption.Preemptor.PreemptionTime;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds flavors for a head and, if these need preemption, targets. */
final class Nominator {

  private final TopologyCache topologies;
  private final BudgetCheck budgets;
  private final PreemptionStrategy preemption;
  private final PreemptionTime time;
  private final FlavorCosts costs;
  private final long cycle;

  /** The search of heads that begin with their first flavor in this cycle. */
  private final Search fromFirstFlavor;

  /** Whether the usage is the sum of the reservations, as it is until heads are processed. */
  private boolean asReserved;

  /** The existing flavors without those that the head may not get. */
  private Map<String, Flavor> open;

  /** Whether nobody is to be preempted for the head. */
  private boolean withoutTargets;

  /** The trees in which a rule protects or delays a Workload; null until somebody asks. */
  private @Nullable Set<QuotaNode> waitingTrees;

  Nominator(
      Map<String, Flavor> flavors,
      TopologyCache topologies,
      BudgetCheck budgets,
      PreemptionStrategy preemption,
      PreemptionTime time,
      FlavorCosts costs,
      long cycle) {
    this.costs = costs;
    this.open = flavors;
    this.topologies = topologies;
    this.budgets = budgets;
    this.preemption = preemption;
    this.time = time;
    this.cycle = cycle;
    this.fromFirstFlavor = new Search(NominatedWorkload.Resumed.at(null), cycle, 0, null);
  }

  /** Nominates a head with the current usage; clears the recorded progress of its flavor search. */
  NominatedWorkload nominate(QueuedWorkload head, ClusterQueueCache queue) {
    asReserved = true;
    return search(head, queue);
  }

  /**
   * Nominates a Workload whose flavor search goes on where it was; it keeps the progress of that.
   *
   * @param beginning whether no head of the cycle has added usage yet
   */
  NominatedWorkload nominateKeepingProgress(
      QueuedWorkload workload, ClusterQueueCache queue, boolean beginning) {
    asReserved = beginning;
    FlavorProgress progress = workload.flavorProgress();
    NominatedWorkload found = search(workload, queue);
    workload.flavorProgress(progress);
    return found;
  }

  private NominatedWorkload search(QueuedWorkload head, ClusterQueueCache queue) {
    FlavorProgress before = head.flavorProgress();
    int[] resume = before != null && before.isValid(queue, cycle) ? before.last() : null;
    head.flavorProgress(null);
    Search search =
        new Search(
            NominatedWorkload.Resumed.at(resume),
            before == null || resume == null ? cycle : before.began(),
            before == null || before.queue() != queue ? 0 : before.searchCycles(),
            before);
    NominatedWorkload found = assign(head, queue, resume, search);
    if (resume == null || found.succeeds() || found.hasFlavorsLeft()) {
      return found;
    }
    // A resumed search without success starts again, so that no flavor is skipped.
    return assign(head, queue, null, search.exhaustive(cycle));
  }

  /**
   * Nominates a Workload with the current usage, without preemption; it keeps the progress of its
   * flavor search.
   *
   * @param closed flavors that it may not get
   */
  NominatedWorkload nominateWithoutTargets(
      QueuedWorkload workload, ClusterQueueCache queue, Set<String> closed) {
    withoutTargets = true;
    Map<String, Flavor> before = open;
    open = without(closed);
    NominatedWorkload found = assign(workload, queue, null, fromFirstFlavor);
    open = before;
    withoutTargets = false;
    return found;
  }

  private Map<String, Flavor> without(Set<String> closed) {
    if (closed.isEmpty()) {
      return open;
    }
    Map<String, Flavor> rest = new HashMap<>(open);
    rest.keySet().removeAll(closed);
    return rest;
  }

  /**
   * Nominates a head for flavors of which nothing is kept for others. If it gets none, it is
   * nominated as if nothing were kept, and held for that.
   */
  private NominatedWorkload besideReservations(
      QueuedWorkload head, ClusterQueueCache queue, Supplier<NominatedWorkload> nomination) {
    NominatedWorkload first = onOpenNodes(head, queue, nomination);
    if (head.equivalenceClass().demand(queue).fixed() != null) {
      // Without its only flavor it gets nothing: whether that is kept is asked when it is
      // processed.
      return first;
    }
    NominatedWorkload found = first;
    Map<String, Flavor> before = open;
    boolean more = found.succeeds();
    while (more) {
      Set<String> kept =
          budgets.keptFlavors(head, queue, found.assignment(), found.preemptionTargets());
      if (kept.isEmpty()) {
        open = before;
        return found;
      }
      open = without(kept);
      found = onOpenNodes(head, queue, nomination);
      more = found.succeeds();
    }
    open = before;
    return first;
  }

  /** Nominates a head that fits without a choice. */
  NominatedWorkload nominatePlain(QueueHead head) {
    ResourceDemand demand = head.item().equivalenceClass().demand(head.queue());
    return new NominatedWorkload(
        head.item(),
        head.queue(),
        FlavorAssigner.assignPlain(demand, Objects.requireNonNull(demand.fixed())),
        List.of(),
        fromFirstFlavor,
        null,
        true);
  }

  private NominatedWorkload assign(
      QueuedWorkload head, ClusterQueueCache queue, int @Nullable [] resume, Search search) {
    Simulations simulations = new Simulations(head, queue);
    FlavorCosts.Search asked = new FlavorCosts.Search(costs, waitsForCheaperUntil(head, queue));
    return besideReservations(
        head,
        queue,
        () ->
            inFullOrInPart(
                head,
                queue,
                search,
                simulations,
                resourceDemand ->
                    FlavorAssigner.assign(
                        open, topologies, simulations, resourceDemand, resume, asked)));
  }

  /**
   * Until when a head waits for a cheaper flavor, in microseconds since the epoch; {@link
   * Long#MIN_VALUE} if it doesn't: nor where others wait behind it, or if fewer of its pods may
   * start.
   */
  private long waitsForCheaperUntil(QueuedWorkload head, ClusterQueueCache queue) {
    Optional<CheapestFirst> rules = queue.spec().rules().cheapest();
    if (rules.isEmpty()
        || queue.spec().strategy() != QueueingStrategy.BEST_EFFORT_FIFO
        || head.equivalenceClass().demand(queue).steps() > 0) {
      return Long.MIN_VALUE;
    }
    Duration delay = rules.get().delay(head.equivalenceClass().shape().cost());
    long until = PreemptionProtection.after(head.queuedAtMicros(), delay);
    return until > time.nowMicros() ? until : Long.MIN_VALUE;
  }

  /** Nominates a head again, with the flavors of its nomination and the current usage. */
  NominatedWorkload renominate(NominatedWorkload before) {
    asReserved = false;
    Simulations simulations = new Simulations(before.item(), before.queue());
    return onOpenNodes(
        before.item(),
        before.queue(),
        () ->
            inFullOrInPart(
                before.item(),
                before.queue(),
                before.search(),
                simulations,
                resourceDemand ->
                    FlavorAssigner.reassign(
                        open,
                        topologies,
                        simulations,
                        resourceDemand,
                        before.assignment().chosen(),
                        new FlavorCosts.Search(costs, Long.MIN_VALUE))));
  }

  /**
   * Nominates a head away from the nodes that are closed to it. If only those have room, it is
   * nominated for them, and held for that.
   */
  private NominatedWorkload onOpenNodes(
      QueuedWorkload head, ClusterQueueCache queue, Supplier<NominatedWorkload> nomination) {
    Set<Scope.OfNodes> closed =
        queue.topologyAware() ? budgets.closedTo(head, queue) : Set.<Scope.OfNodes>of();
    if (!closed.isEmpty()) {
      topologies.close(closed);
      NominatedWorkload found = nomination.get();
      topologies.close(Set.of());
      if (found.succeeds()) {
        return found;
      }
    }
    return nomination.get();
  }

  /**
   * Tries all pods and, if that fails and partial admission is allowed, the largest number of pods
   * that fits: by binary search, which assumes that fewer pods fit wherever more pods fit
   * (docs/scheduling-semantics.md#flavor-assignment).
   */
  private NominatedWorkload inFullOrInPart(
      QueuedWorkload head,
      ClusterQueueCache queue,
      Search search,
      Simulations simulations,
      Function<ResourceDemand, Assignment> assign) {
    ResourceDemand all = head.equivalenceClass().demand(queue);
    NominatedWorkload full = nominated(head, queue, all, assign.apply(all), search, simulations);
    if (all.steps() == 0 || full.succeeds()) {
      return full;
    }
    NominatedWorkload found = full;
    Assignment least = full.assignment();
    long from = 0;
    long to = all.steps() + 1;
    while (from < to) {
      long middle = (from + to) >>> 1;
      ResourceDemand reduced = all.reduced(middle);
      NominatedWorkload fewer =
          nominated(head, queue, reduced, assign.apply(reduced), search, simulations);
      if (fewer.succeeds()) {
        found = fewer;
        to = middle;
      } else {
        least = fewer.assignment();
        from = middle + 1;
      }
    }
    return found.succeeds() ? found : full.withMinimum(least);
  }

  private NominatedWorkload nominated(
      QueuedWorkload head,
      ClusterQueueCache queue,
      ResourceDemand resourceDemand,
      Assignment flavorsOnly,
      Search search,
      Simulations simulations) {
    Assignment assignment = TopologyAssigner.assign(topologies, resourceDemand, flavorsOnly);
    List<PreemptionTarget> targets = targets(head, queue, resourceDemand, assignment, simulations);
    Assignment placed =
        targets.isEmpty() || !queue.topologyAware()
            ? assignment
            : placedWithoutTargets(resourceDemand, assignment, targets);
    return new NominatedWorkload(head, queue, placed, targets, search, null, false);
  }

  /** Adds the places that are there once the targets are gone. */
  private Assignment placedWithoutTargets(
      ResourceDemand resourceDemand, Assignment assignment, List<PreemptionTarget> targets) {
    targets.forEach(PreemptionTarget::removeUsage);
    Optional<AssignedPlaces> places =
        TopologyAssigner.places(topologies, resourceDemand, assignment.chosen());
    targets.reversed().forEach(PreemptionTarget::restoreUsage);
    return places.map(assignment::with).orElse(assignment);
  }

  /** Simulates preemption for one head, and remembers the last search. */
  private final class Simulations implements PreemptionOracle {
    private final QueuedWorkload head;
    private final ClusterQueueCache queue;
    private int pair = -1;
    private long amount;
    private Optional<PreemptionStrategy.Found> found = Optional.empty();

    Simulations(QueuedWorkload head, ClusterQueueCache queue) {
      this.head = head;
      this.queue = queue;
    }

    @Override
    public Result simulate(int ofPair, long ofAmount) {
      pair = ofPair;
      amount = ofAmount;
      found = find(head, PreemptionRequest.forPair(preemptor(head, queue), ofPair, ofAmount));
      return found
          .map(targets -> new Result(mode(targets, queue), targets.borrowLevel()))
          .orElseGet(
              () ->
                  new Result(
                      AssignmentMode.NO_CANDIDATES, queue.node().borrowLevel(ofPair, ofAmount)));
    }

    @Override
    public boolean triesBorrowing() {
      return preemption.mayPreemptBorrowing(queue);
    }

    /** The targets for a whole request; usage is the same as in the simulations. */
    Optional<PreemptionStrategy.Found> targets(PreemptionRequest request) {
      return isLastSimulated(request) ? found : find(head, request);
    }

    private boolean isLastSimulated(PreemptionRequest request) {
      for (int i = 0; i < request.pairs().length; i++) {
        if (request.pairs()[i] == pair) {
          return request.amounts()[i] == amount
              && !queue.topologyAware()
              && preemption.isDecidedBy(request, pair);
        }
      }
      return false;
    }
  }

  /** The targets of a head; none while a rule delays its preemption. */
  private Optional<PreemptionStrategy.Found> find(
      QueuedWorkload head, PreemptionRequest preemptionRequest) {
    if (withoutTargets || preemptsFrom(head, preemptionRequest.queue()) > time.nowMicros()) {
      return Optional.empty();
    }
    return asReserved
        ? preemption.findAsReserved(preemptionRequest)
        : preemption.find(preemptionRequest);
  }

  private static long preemptsFrom(QueuedWorkload head, ClusterQueueCache queue) {
    return head.preemptsFromMicros(queue.node().preemptionRules());
  }

  private Preemptor preemptor(QueuedWorkload head, ClusterQueueCache queue) {
    return Preemptor.of(head, queue, time);
  }

  private static AssignmentMode mode(PreemptionStrategy.Found found, ClusterQueueCache queue) {
    for (PreemptionTarget preemptionTarget : found.preemptionTargets()) {
      if (preemptionTarget.queue() == queue) {
        return AssignmentMode.PREEMPT;
      }
    }
    return AssignmentMode.RECLAIM;
  }

  private List<PreemptionTarget> targets(
      QueuedWorkload head,
      ClusterQueueCache queue,
      ResourceDemand resourceDemand,
      Assignment assignment,
      Simulations simulations) {
    if (!assignment.needsPreemption()) {
      return List.of();
    }
    PreemptionRequest request =
        request(head, queue, assignment, () -> hasPlaces(resourceDemand, assignment));
    return simulations
        .targets(request)
        .map(found -> preemption.withLeastWork(request, found).preemptionTargets())
        .orElse(List.of());
  }

  /** What kept a head from finding targets for what an assignment needs. */
  PreemptionObstacles obstacles(
      QueuedWorkload head, ClusterQueueCache queue, Assignment assignment) {
    PreemptionRequest request = request(head, queue, assignment, () -> true);
    boolean notEvictable = preemption.meetsNotEvictable(request);
    if (!waits(queue) && request.preemptor().repeated().isEmpty()) {
      return new PreemptionObstacles(notEvictable, Optional.empty(), Optional.empty(), Set.of());
    }
    PreemptionStrategy.Protected kept = preemption.protectedFrom(request);
    Optional<Instant> delayedUntil = later(preemptsFrom(head, queue));
    return new PreemptionObstacles(
        notEvictable,
        later(kept.firstUntil()),
        delayedUntil,
        delayedUntil.isPresent() ? Set.of(TimedRule.PREEMPTION_DELAY) : kept.rules());
  }

  /**
   * Whether a rule protects or delays a Workload in the tree of a queue; found out once a cycle.
   */
  private boolean waits(ClusterQueueCache queue) {
    Set<QuotaNode> trees = waitingTrees;
    if (trees == null) {
      trees = time.waits().get();
      waitingTrees = trees;
    }
    return trees.contains(queue.node().root());
  }

  private Optional<Instant> later(long micros) {
    return micros > time.nowMicros() && micros != Long.MAX_VALUE
        ? Optional.of(Instants.ofMicros(micros))
        : Optional.empty();
  }

  /** Whether one of the targets of a head was one only because the head is exempt. */
  boolean usesExemption(NominatedWorkload nominatedWorkload) {
    for (PreemptionTarget each : nominatedWorkload.preemptionTargets()) {
      if (each.quotaHolder().protectedUntilMicros(each.queue().node().preemptionRules(), false)
          > time.nowMicros()) {
        return true;
      }
    }
    return false;
  }

  private boolean hasPlaces(ResourceDemand resourceDemand, Assignment assignment) {
    return !resourceDemand.queue().topologyAware()
        || TopologyAssigner.places(topologies, resourceDemand, assignment.chosen()).isPresent();
  }

  private PreemptionRequest request(
      QueuedWorkload head,
      ClusterQueueCache queue,
      Assignment assignment,
      BooleanSupplier hasPlaces) {
    int size = assignment.usage().size();
    int[] pairs = new int[size];
    long[] amounts = new long[size];
    for (int i = 0; i < size; i++) {
      pairs[i] = assignment.usage().get(i).pair();
      amounts[i] = assignment.usage().get(i).amount();
    }
    return new PreemptionRequest(
        preemptor(head, queue), pairs, amounts, assignment.needed(), hasPlaces);
  }
}
