package dev.sluice.core.engine;

import dev.sluice.core.backfill.BackfillExport.PairQuota;
import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.backfill.QueuePlanner;
import dev.sluice.core.backfill.QuotaProfile;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ActiveInOrder;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.reservation.Reservations;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.NominatedWorkload;
import dev.sluice.core.scheduling.SchedulingCycle;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import dev.sluice.core.scheduling.flavor.FlavorEligibility.FixedFlavor;
import dev.sluice.core.waiting.CycleHeads.Admissions;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plans the blocked Workloads of queues with back-fill, and admits those that may start before them
 * (docs/backfill.md). Runs when no head is left to evaluate.
 */
final class BackfillPass {

  /** How many Workloads of a queue a pass looks at, beside those of requests that don't fit. */
  static final int MOST_CANDIDATES = 1_000;

  /** Evaluates Workloads now. */
  interface Cycles {

    /** A cycle without heads. */
    SchedulingCycle begin();

    /** Whether what may start in a tree depends on nothing but what happens in that tree. */
    boolean isSteady(QuotaNode rootNode);

    /** What flavors cost now. */
    FlavorCosts costs();

    /** Applies an admission. */
    void apply(CycleOutcome.Admitted outcome);
  }

  private final SpecRegistry specRegistry;
  private final WaitingWorkloads waiting;
  private final PlannedStarts plannedStarts;
  private final Reservations reservations;
  private final Cycles cycles;

  /**
   * What a queue has to plan with; valid until trees are rebuilt.
   *
   * @param ofPairs the quota of each flavor and resource
   * @param alone what it alone can use of each of its pairs
   */
  private record Quota(List<PairQuota> ofPairs, long[] alone) {}

  private final Map<ClusterQueueCache, Quota> quotas = new HashMap<>();

  /** Creates it. */
  BackfillPass(
      SpecRegistry specRegistry,
      WaitingWorkloads waiting,
      PlannedStarts plannedStarts,
      Reservations reservations,
      Cycles cycles) {
    this.specRegistry = specRegistry;
    this.waiting = waiting;
    this.plannedStarts = plannedStarts;
    this.reservations = reservations;
    this.cycles = cycles;
  }

  /** What is found out once for the queues of a tree, until one of them admits a Workload. */
  private static final class TreePass {
    private final SchedulingCycle cycle;

    /** Whether what may start depends on nothing but what happens in the tree. */
    private final boolean steady;

    private @Nullable List<NominatedWorkload> claimants;

    TreePass(SchedulingCycle cycle, boolean steady) {
      this.cycle = cycle;
      this.steady = steady;
    }
  }

  /**
   * Plans the queues anew in whose trees anything has happened.
   *
   * @return how many Workloads were admitted
   */
  int run(Instant now) {
    int admitted = 0;
    for (QuotaNode rootNode : plannedStarts.begin(specRegistry.backfillTrees.keySet(), now)) {
      admitted += run(rootNode, now);
    }
    plannedStarts.end();
    return admitted;
  }

  /** Forgets what is planned in queues without back-fill; to be called when trees are rebuilt. */
  void treesRebuilt() {
    quotas.clear();
    plannedStarts.treesRebuilt();
    if (!specRegistry.backfillTrees.isEmpty()) {
      plannedStarts.changed();
    }
    for (String name : plannedStarts.queues()) {
      ClusterQueueCache queue = specRegistry.cacheOf(name);
      if (queue == null || rulesOf(queue) == null || !queue.active()) {
        plannedStarts.forgetQueue(name);
      }
    }
  }

  private int run(QuotaNode rootNode, Instant now) {
    int admitted = 0;
    boolean steady = cycles.isSteady(rootNode);
    TreePass pass = new TreePass(cycles.begin(), steady);
    if (!steady) {
      plannedStarts.unsteady(rootNode);
    }
    for (ClusterQueueCache queue : specRegistry.backfillTrees.getOrDefault(rootNode, List.of())) {
      BackfillRules rules = rulesOf(queue);
      if (rules != null && queue.active()) {
        int ofQueue = run(pass, queue, rules, now);
        admitted += ofQueue;
        pass = ofQueue == 0 ? pass : new TreePass(cycles.begin(), steady);
      }
    }
    return admitted;
  }

  /** The rules of a queue; null if nobody starts before its head. */
  static @Nullable BackfillRules rulesOf(@Nullable ClusterQueueCache queue) {
    return queue == null || !queue.queueing().headBlocks()
        ? null
        : queue.spec().rules().backfill().orElse(null);
  }

  private int run(TreePass pass, ClusterQueueCache queue, BackfillRules rules, Instant now) {
    QueuedWorkload headWorkload = waiting.blockingHead(queue.name());
    if (headWorkload == null || headWorkload != queue.pending().head()) {
      // Whoever is planned is looked at in the next cycle, or has left.
      if (queue.pending().head() == null) {
        plannedStarts.forgetQueue(queue.name());
      }
      return 0;
    }
    if (!pass.cycle.waitsForQuota(new QueueHead(queue, headWorkload))) {
      return 0;
    }
    QueuePlanner planner = null;
    if (!pass.steady || !planAlone(queue, headWorkload, rules, now)) {
      planner = plan(queue, headWorkload, rules, now);
      if (planner.plannedAt(headWorkload).isEmpty()) {
        return 0;
      }
    }
    return queue.pending().mayFit(queue)
        ? admit(pass, new Candidates(queue, headWorkload, rules, now, planner))
        : 0;
  }

  /**
   * Plans a head without a choice of flavors where it alone is planned; false if that takes more
   * than finding the time, so that nothing is planned yet.
   */
  private boolean planAlone(
      ClusterQueueCache queue, QueuedWorkload headWorkload, BackfillRules rules, Instant now) {
    ResourceDemand demand = headWorkload.equivalenceClass().demand(queue);
    ResourceDemand.Fixed request = demand.replaces() ? null : demand.fixed();
    if (request == null
        || rules.depth() > 1
        || !FixedFlavor.isEligible(specRegistry.flavors, demand)) {
      return false;
    }
    QuotaProfile profile = profile(queue, rules, Instants.micros(now));
    if (profile.beyondBound()) {
      return false;
    }
    long at = profile.firstTime(request, plannedStarts.plannedAt(queue.name(), headWorkload.id()));
    if (at == Instants.micros(now)
        || at == QuotaProfile.NEVER
        || !plannedStarts.planAlone(
            queue.name(), headWorkload.id(), Instants.ofMicros(at), quota(queue).ofPairs())) {
      return false;
    }
    planAgain(queue, profile);
    return true;
  }

  private QuotaProfile profile(ClusterQueueCache queue, BackfillRules rules, long micros) {
    return new QuotaProfile(
        queue,
        quota(queue).alone(),
        specRegistry.ends(plannedStarts, rules.unknown(), queue),
        micros);
  }

  /** Plans a queue again when the first run has ended, or goes on beyond its bound. */
  private void planAgain(ClusterQueueCache queue, QuotaProfile profile) {
    long firstEnd = profile.firstEnd();
    if (firstEnd != QuotaProfile.NEVER) {
      plannedStarts.planAgainAt(queue.node().root(), firstEnd);
    }
  }

  private QueuePlanner planner(ClusterQueueCache queue, BackfillRules rules, QuotaProfile profile) {
    return new QueuePlanner(
        queue,
        profile,
        specRegistry.flavors,
        workload -> plannedStarts.longest(workload.id().uid(), rules),
        reservations.isNear(queue.node().root())
            ? reservations::keptUntil
            : QueuePlanner.Kept.NOTHING,
        cycles.costs());
  }

  private QueuePlanner plan(
      ClusterQueueCache queue, QueuedWorkload headWorkload, BackfillRules rules, Instant now) {
    long micros = Instants.micros(now);
    QuotaNode rootNode = queue.node().root();
    QuotaProfile profile = profile(queue, rules, micros);
    QueuePlanner planner = planner(queue, rules, profile);
    Map<WorkloadId, Instant> planned = new LinkedHashMap<>();
    QueuedWorkload next = headWorkload;
    ActiveInOrder inOrder = null;
    while (next != null && planner.plan(next, plannedStarts.plannedAt(queue.name(), next.id()))) {
      long at = planner.plannedAt(next).orElseThrow();
      if (at == micros) {
        plannedStarts.unsteady(rootNode);
      }
      planned.put(next.id(), Instants.ofMicros(at));
      if (planned.size() == rules.depth()) {
        break;
      }
      inOrder = inOrder == null ? queue.pending().activeInOrder() : inOrder;
      next = nextOf(inOrder, headWorkload);
    }
    Optional<WorkloadId> without =
        next == null || planned.size() == rules.depth() ? Optional.empty() : Optional.of(next.id());
    planAgain(queue, profile);
    if (profile.beyondBound()) {
      plannedStarts.unsteady(rootNode);
    }
    plannedStarts.replace(
        queue.name(),
        planned,
        new PlannedStarts.Evidence(
            () -> plannedAndWaiting(queue),
            without,
            quota(queue).ofPairs(),
            planner.heldBackIds(),
            () ->
                profile.beyondBound()
                    || plannedStarts.anyExtended(queue.name(), rootNode, rules.unknown()),
            profile::lent));
    return planner;
  }

  /** Those with a planned start that are still in the queue. */
  private Set<WorkloadId> plannedAndWaiting(ClusterQueueCache queue) {
    Set<WorkloadId> waitingIds = new HashSet<>();
    List<PlannedStart> before = plannedStarts.of(queue.name());
    if (!before.isEmpty()) {
      ActiveInOrder all = queue.pending().activeInOrder();
      for (int i = 0; all.hasNext() && i < MOST_CANDIDATES; i++) {
        waitingIds.add(all.next().id());
      }
    }
    return waitingIds;
  }

  private static @Nullable QueuedWorkload nextOf(
      ActiveInOrder inOrder, QueuedWorkload headWorkload) {
    while (inOrder.hasNext()) {
      QueuedWorkload next = inOrder.next();
      if (next != headWorkload) {
        return next;
      }
    }
    return null;
  }

  private Quota quota(ClusterQueueCache queue) {
    return quotas.computeIfAbsent(queue, this::quotaOf);
  }

  private Quota quotaOf(ClusterQueueCache queue) {
    List<PairQuota> quota = new ArrayList<>();
    for (ClusterQueueCache.Group group : queue.groups()) {
      for (int[] ofFlavor : group.pairs()) {
        for (int pair : ofFlavor) {
          quota.add(
              new PairQuota(
                  specRegistry.pairs.pair(pair),
                  QuotaProfile.ofAlone(queue, pair),
                  queue.node().potential(pair)));
        }
      }
    }
    return new Quota(quota, QuotaProfile.ofPairs(queue, pair -> QuotaProfile.ofAlone(queue, pair)));
  }

  /** Who may start before the head of a queue. */
  private final class Candidates {
    private final ClusterQueueCache queue;
    private final QueuedWorkload headWorkload;
    private final BackfillRules rules;
    private final Instant now;
    private @Nullable QueuePlanner planner;

    /**
     * @param planner what has planned the head; null if nobody needs to know more than the time
     *     until one of the others fits
     */
    private Candidates(
        ClusterQueueCache queue,
        QueuedWorkload headWorkload,
        BackfillRules rules,
        Instant now,
        @Nullable QueuePlanner planner) {
      this.queue = queue;
      this.headWorkload = headWorkload;
      this.rules = rules;
      this.now = now;
      this.planner = planner;
    }

    private QueuePlanner planner() {
      QueuePlanner known = planner;
      if (known == null) {
        known =
            BackfillPass.this.planner(queue, rules, profile(queue, rules, Instants.micros(now)));
        boolean unused =
            known.plan(headWorkload, plannedStarts.plannedAt(queue.name(), headWorkload.id()));
        planner = known;
      }
      return known;
    }
  }

  private List<NominatedWorkload> claimants(TreePass pass, ClusterQueueCache queue) {
    List<NominatedWorkload> known = pass.claimants;
    if (known == null) {
      known = pass.cycle.claimants(waiting.claimsIn(queue.node().root()));
      pass.claimants = known;
    }
    return known;
  }

  private int admit(TreePass pass, Candidates candidates) {
    ClusterQueueCache queue = candidates.queue;
    SchedulingCycle cycle = pass.cycle;
    Admissions admissions = waiting.admissions();
    int most =
        switch (admissions) {
          case ANY -> Integer.MAX_VALUE;
          case ONE -> 1;
          case NONE -> 0;
        };
    int admitted = 0;
    int looked = 0;
    cycle.beginBackfill(claimants(pass, queue), queue);
    if (!queue.pending().mayFit(queue)) {
      cycle.endBackfill();
      return 0;
    }
    ActiveInOrder inOrder = queue.pending().activeInOrder();
    while (admitted < most && looked < MOST_CANDIDATES && inOrder.hasNext()) {
      QueuedWorkload workload = inOrder.next();
      if (workload == candidates.headWorkload) {
        continue;
      }
      looked++;
      SchedulingCycle.Fit fit = tried(cycle, candidates, workload);
      if (!fit.fits()) {
        inOrder.dropClass();
      }
      Optional<CycleOutcome.Admitted> outcome = fit.admitted();
      if (outcome.isPresent()) {
        cycle.endBackfill();
        candidates.planner().started(workload, outcome.get().assignment());
        cycles.apply(outcome.get());
        admitted++;
        pass.claimants = null;
        cycle.beginBackfill(claimants(pass, queue), queue);
      }
    }
    cycle.endBackfill();
    return admitted;
  }

  private SchedulingCycle.Fit tried(
      SchedulingCycle cycle, Candidates candidates, QueuedWorkload workload) {
    return candidates.rules.unknown() == BackfillRules.UnknownRunTime.REFUSE
            && !plannedStarts.isBounded(workload.id().uid(), candidates.rules)
        ? SchedulingCycle.Fit.NOT_THIS_ONE
        : cycle.backfill(
            workload,
            candidates.queue,
            assignment ->
                candidates.planner().inTheWay(workload, assignment).stream()
                    .map(pair -> specRegistry.pairs.pair(pair).flavor())
                    .collect(Collectors.toSet()));
  }
}
