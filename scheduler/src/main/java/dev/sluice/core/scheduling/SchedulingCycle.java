package dev.sluice.core.scheduling;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.SchedulingPolicies.SchedulingPolicy;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.scheduling.preemption.Preemptor.PreemptionTime;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyUsage;
import dev.sluice.core.waiting.CycleHeads;
import dev.sluice.core.waiting.CycleHeads.Admissions;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One scheduling cycle (docs/scheduling-semantics.md#the-cycle): nominates the head of every queue,
 * orders the nominated Workloads, and admits each one that still fits after the ones before it. It
 * adds the usage of admitted Workloads to the quota tree, and changes nothing else.
 */
public final class SchedulingCycle {

  /** How many Workloads may join a cycle, in all trees together. */
  private static final int REFILLS = 8;

  private final WorkloadOrdering ordering;
  private final Nominator nominator;
  private final HeadRules rules;
  private final BudgetCheck budgets;
  private final long number;
  private final CycleReservations cycleReservations = new CycleReservations();
  private final boolean recomputesPlaces;
  private final boolean recomputesTargets;
  private final List<CycleOutcome> outcomes = new ArrayList<>();
  private final Map<String, Integer> preemptionSkips = new HashMap<>();
  private final List<CycleStatistics.Recomputation> recomputations = new ArrayList<>();
  private final List<CycleStatistics.RuleUse> ruleUses = new ArrayList<>();
  private final List<CycleStatistics.CostRuleUse> costRuleUses = new ArrayList<>();
  private Admissions admissions = Admissions.NONE;
  private final Set<String> decidedFamilies = new HashSet<>();
  private boolean stopped;

  /**
   * Creates a cycle.
   *
   * @param policy the order and the preemption
   * @param flavors the existing flavors, by name
   * @param topologies the topologies of flavors, and what is free in them
   * @param rules what holds for heads, whatever the quota
   * @param budgets what budgets and reservations say about heads
   * @param time the time of the cycle, for rules of preemption
   * @param costs what flavors cost
   * @param number the number of the cycle
   */
  public SchedulingCycle(
      SchedulingPolicy policy,
      Map<String, Flavor> flavors,
      TopologyCache topologies,
      HeadRules rules,
      BudgetCheck budgets,
      PreemptionTime time,
      FlavorCosts costs,
      long number) {
    this.ordering = new QueuePriorityOrdering(policy.ordering(), time.repeatedPreemptions());
    this.nominator =
        new Nominator(flavors, topologies, budgets, policy.preemption(), time, costs, number);
    this.recomputesTargets = policy.recomputesTargets();
    this.recomputesPlaces = topologies.options().recomputes();
    this.rules = rules;
    this.budgets = budgets;
    this.number = number;
  }

  /**
   * Nominates the heads: finds flavors for each that may be evaluated, and targets if need be. The
   * others have their outcomes at once.
   */
  public List<NominatedWorkload> nominate(CycleHeads heads) {
    List<NominatedWorkload> nominated = new ArrayList<>(heads.size());
    heads
        .evaluated()
        .forEach(
            (queue, head) -> {
              CycleOutcome outcome = withoutNomination(head, queue);
              if (outcome == null) {
                nominated.add(nominator.nominate(head, queue));
              } else {
                heads.processed();
                outcomes.add(outcome);
              }
            });
    for (QueueHead head : heads.plain()) {
      nominated.add(nominator.nominatePlain(head));
    }
    return nominated;
  }

  /** Whether a head waits for quota only, and doesn't fit even after preemption. */
  public boolean waitsForQuota(QueueHead head) {
    return withoutNomination(head.item(), head.queue()) == null
        && (lacksQuota(head) || !nominateClaim(head).succeeds());
  }

  /** Whether a head certainly doesn't fit: it has no choice, and may not preempt. */
  private static boolean lacksQuota(QueueHead head) {
    ResourceDemand.Fixed request = head.queue().mayPreempt() ? null : head.plainRequest();
    return request != null && request.exceeds(head.queue().node());
  }

  /** What heads that hold claims would get. */
  public List<NominatedWorkload> claimants(List<QueueHead> claims) {
    List<NominatedWorkload> claimants = new ArrayList<>(claims.size());
    for (QueueHead claim : claims) {
      if (withoutNomination(claim.item(), claim.queue()) == null) {
        claimants.add(nominateClaim(claim));
      }
    }
    return claimants;
  }

  /**
   * Reserves quota for heads that hold claims, in place of {@link #process}, until {@link
   * #endBackfill}.
   *
   * @param exceptQueue the queue whose own claim doesn't count
   */
  public void beginBackfill(List<NominatedWorkload> claimants, ClusterQueueCache exceptQueue) {
    for (NominatedWorkload claimant : claimants) {
      if (claimant.queue() == exceptQueue) {
        continue;
      }
      QuotaNode node = claimant.queue().node();
      Assignment assignment = claimant.assignment();
      if (claimant.succeeds()) {
        cycleReservations.addTargets(claimant.preemptionTargets());
        cycleReservations.reserve(node, assignment.usage(), claimant.guaranteed());
        cycleReservations.reserve(node, assignment.places());
      } else if (reserves(claimant)) {
        cycleReservations.reserve(node, reservation(assignment, node), claimant.guaranteed());
      }
    }
  }

  private NominatedWorkload nominateClaim(QueueHead head) {
    return nominator.nominateKeepingProgress(head.item(), head.queue(), true);
  }

  /**
   * Admits a Workload that isn't the head of its queue, if it fits now beside what heads have
   * reserved, without preemption.
   *
   * @param inTheWay the flavors of its usage of which it may not start
   * @return whether it fits; the outcome is there if it may start, too
   */
  public Fit backfill(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Function<Assignment, Set<String>> inTheWay) {
    if (withoutNomination(workload, queue) != null) {
      // Others of the request may be of another namespace or LocalQueue.
      return Fit.NOT_THIS_ONE;
    }
    ResourceDemand.Fixed request = workload.equivalenceClass().demand(queue).fixed();
    if (request != null && request.exceeds(queue.node())) {
      return Fit.NOT_NOW;
    }
    Set<String> closed = new HashSet<>();
    while (true) {
      NominatedWorkload entry = nominator.nominateWithoutTargets(workload, queue, closed);
      if (!fitsBesideHeads(entry)) {
        return closed.isEmpty() ? Fit.NOT_NOW : Fit.NOT_THIS_ONE;
      }
      if (decidedFamilies.contains(family(workload))
          || !movesFrom(workload).isEmpty()
          || budgets.of(workload, queue, entry.assignment(), List.of()).isPresent()) {
        return Fit.NOT_THIS_ONE;
      }
      Set<String> planned = inTheWay.apply(entry.assignment());
      if (planned.isEmpty()) {
        return new Fit(true, Optional.of(admit(entry)));
      }
      closed.addAll(planned);
    }
  }

  private boolean fitsBesideHeads(NominatedWorkload entry) {
    return entry.assignment().fits()
        && cycleReservations.quotaFitsWithoutTargets(entry)
        && cycleReservations.placesFitWithoutTargets(entry)
        && cycleReservations.fitsWithTargets(entry);
  }

  /**
   * What became of a Workload that was to start before others.
   *
   * @param fits whether all that have the same request fit, too
   */
  public record Fit(boolean fits, Optional<CycleOutcome.Admitted> admitted) {

    /** It may not start, whatever others with the same request may. */
    public static final Fit NOT_THIS_ONE = new Fit(true, Optional.empty());

    private static final Fit NOT_NOW = new Fit(false, Optional.empty());
  }

  /** Drops what {@link #beginBackfill} reserved. */
  public void endBackfill() {
    cycleReservations.undo();
  }

  /** The outcome of a head that can't be nominated; null if it can be. */
  private @Nullable CycleOutcome withoutNomination(QueuedWorkload head, ClusterQueueCache queue) {
    Optional<Explanation> ineligibility = rules.ineligibility(head, queue);
    if (ineligibility.isPresent()) {
      return new CycleOutcome.Ineligible(head, queue, ineligibility.get());
    }
    Optional<Explanation> overBudget = budgets.beforeFlavors(head, queue);
    if (overBudget.isPresent()) {
      return new CycleOutcome.OverBudget(head, queue, false, overBudget.get());
    }
    return queue.waitsForPods() || queue.node().atWorkloadLimit() != null
        ? queueBlocked(head, queue)
        : null;
  }

  /** The nominated Workloads in the order in which they are to be processed. */
  public Iterator<NominatedWorkload> order(List<NominatedWorkload> nominated) {
    return ordering.order(nominated);
  }

  /**
   * Admits each nominated Workload that still fits after the ones before it, until no head that is
   * left needs an outcome.
   *
   * @return the outcomes of all heads that need one, in the order of decision
   */
  public List<CycleOutcome> process(CycleHeads heads, Iterator<NominatedWorkload> ordered) {
    admissions = heads.admissions();
    BooleanSupplier noTargets = cycleReservations::hasNoTargets;
    while (heads.mayNeedOutcome(noTargets)) {
      CycleOutcome outcome = process(heads, ordered.next());
      if (outcome != null) {
        outcomes.add(outcome);
      }
    }
    cycleReservations.undo();
    return outcomes;
  }

  /** Processes a head; null if it is skipped and needs no outcome. */
  private @Nullable CycleOutcome process(CycleHeads heads, NominatedWorkload next) {
    if (!next.plain()) {
      heads.processed();
      return stopped ? notProcessed(next) : process(next);
    }
    if (cycleReservations.mayFitWithoutTargets(next)) {
      heads.plainProcessed(next.queue());
      return process(next);
    }
    heads.plainSkipped();
    return null;
  }

  /**
   * Like {@link #process}, but after each admission the next Workload of the queue joins the heads
   * that are left, up to {@link #REFILLS} times (docs/fair-sharing.md#refill). It is admitted if it
   * fits as quota is then; otherwise the cycle has no effect on it. Trees come one after the other.
   *
   * @param successors the next Workload of a queue, once some have left it
   */
  public List<CycleOutcome> processAndRefill(
      CycleHeads heads,
      List<NominatedWorkload> nominated,
      BiFunction<ClusterQueueCache, Set<QueuedWorkload>, Optional<QueuedWorkload>> successors) {
    admissions = heads.admissions();
    SequencedMap<ClusterQueueCache, NominatedWorkload> left = new LinkedHashMap<>();
    nominated.stream()
        .sorted(Comparator.comparing(head -> head.queue().name()))
        .forEach(head -> left.put(head.queue(), head));
    Iterator<NominatedWorkload> ordered = ordering.order(left.values());
    Set<QueuedWorkload> leaving = new HashSet<>();
    Set<QueuedWorkload> joined = new HashSet<>();
    int refills = 0;
    while (!joined.isEmpty() || heads.mayNeedOutcome(cycleReservations::hasNoTargets)) {
      NominatedWorkload next = ordered.next();
      ClusterQueueCache queue = next.queue();
      left.remove(queue);
      CycleOutcome outcome =
          joined.remove(next.item()) ? processSuccessor(next) : process(heads, next);
      if (outcome != null) {
        outcomes.add(outcome);
      }
      if (!(outcome instanceof CycleOutcome.Admitted admitted) || refills == REFILLS) {
        continue;
      }
      leaving.add(admitted.item());
      Optional<QueuedWorkload> successor =
          family(admitted.item()).isEmpty()
              ? successors.apply(queue, leaving)
              : Optional.<QueuedWorkload>empty();
      if (successor.isPresent()) {
        refills++;
        NominatedWorkload entry = nominateSuccessor(successor.get(), queue);
        if (entry != null) {
          joined.add(entry.item());
          left.putFirst(queue, entry);
          ordered = ordering.order(left.values());
        }
      }
    }
    cycleReservations.undo();
    return outcomes;
  }

  /** Nominates a Workload that may join the cycle; null if it doesn't fit. */
  private @Nullable NominatedWorkload nominateSuccessor(
      QueuedWorkload workload, ClusterQueueCache queue) {
    if (withoutNomination(workload, queue) != null) {
      return null;
    }
    NominatedWorkload entry = nominator.nominateKeepingProgress(workload, queue, false);
    return entry.assignment().fits() ? entry : null;
  }

  /** Admits a Workload that joined the cycle, if it still fits; null if it doesn't. */
  private CycleOutcome.@Nullable Admitted processSuccessor(NominatedWorkload entry) {
    return entry.queue().node().atWorkloadLimit() == null
            && fitsBesideHeads(entry)
            && budgets.of(entry.item(), entry.queue(), entry.assignment(), List.of()).isEmpty()
        ? admit(entry)
        : null;
  }

  private static CycleOutcome queueBlocked(QueuedWorkload head, ClusterQueueCache queue) {
    return new CycleOutcome.QueueBlocked(head, queue, CycleExplanations.queueBlocked(queue));
  }

  private CycleOutcome process(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    if (node.atWorkloadLimit() != null) {
      restoreProgress(entry);
      return queueBlocked(entry.item(), entry.queue());
    }
    if (!entry.succeeds()) {
      return noFit(entry);
    }
    if (recomputesTargets && cycleReservations.overlaps(entry.preemptionTargets())) {
      NominatedWorkload renominated = cycleReservations.renominate(node, nominator, entry);
      recomputations.add(
          new CycleStatistics.Recomputation(entry.queue().name(), recomputed(renominated)));
      if (renominated.assignment().fits()) {
        return awaitPreemption(renominated, List.of());
      }
      return renominated.succeeds() ? admitOrReserve(renominated) : noFit(renominated);
    }
    return admitOrReserve(entry);
  }

  private static CycleStatistics.Result recomputed(NominatedWorkload renominated) {
    if (renominated.assignment().fits()) {
      return CycleStatistics.Result.DEFERRED_FIT;
    }
    return renominated.succeeds()
        ? CycleStatistics.Result.NEW_TARGETS
        : CycleStatistics.Result.SKIPPED;
  }

  /** What happened to heads that need preemption; to be called after {@link #process}. */
  public CycleStatistics statistics() {
    return new CycleStatistics(preemptionSkips, recomputations, ruleUses, costRuleUses, List.of());
  }

  private CycleOutcome admitOrReserve(NominatedWorkload entry) {
    if (!recomputesPlaces
        || cycleReservations.placesFitWithoutTargets(entry)
        || !cycleReservations.quotaFitsWithoutTargets(entry)) {
      return admitOrReserveAsNominated(entry);
    }
    // Only the places were taken by heads before it.
    NominatedWorkload renominated = nominator.renominate(entry);
    return renominated.succeeds() ? admitOrReserveAsNominated(renominated) : noFit(renominated);
  }

  private CycleOutcome admitOrReserveAsNominated(NominatedWorkload entry) {
    if (decidedFamilies.contains(family(entry.item()))) {
      return notProcessed(entry);
    }
    Optional<Explanation> overBudget =
        budgets.of(entry.item(), entry.queue(), entry.assignment(), entry.preemptionTargets());
    if (overBudget.isPresent()) {
      return new CycleOutcome.OverBudget(entry.item(), entry.queue(), true, overBudget.get());
    }
    if (!entry.preemptionTargets().isEmpty() && entry.item().gated()) {
      return gated(entry);
    }
    if (cycleReservations.overlaps(entry.preemptionTargets())
        || !cycleReservations.quotaFitsWithoutTargets(entry)
        || !cycleReservations.placesFitWithoutTargets(entry)) {
      return skipped(entry);
    }
    if (nominator.usesExemption(entry)) {
      ruleUses.add(
          new CycleStatistics.RuleUse(
              entry.queue().name(), CycleStatistics.TimedRule.MIN_RUN_TIME_EXEMPT));
    }
    if (!entry.preemptionTargets().isEmpty() || !cycleReservations.fitsWithTargets(entry)) {
      return awaitPreemption(entry, entry.preemptionTargets());
    }
    if (admissions == Admissions.NONE) {
      stopped = true;
      restoreProgress(entry);
      return new CycleOutcome.WaitingForPodsReady(
          entry.item(), entry.queue(), CycleExplanations.WAITS_FOR_PODS);
    }
    List<PreemptionTarget> siblings = movesFrom(entry.item());
    if (!siblings.isEmpty()) {
      decided(entry.item());
      // One that is evicted for another head makes way, too, but not twice.
      return awaitPreemption(
          entry,
          siblings.stream().filter(each -> !cycleReservations.overlaps(List.of(each))).toList());
    }
    if (admissions == Admissions.ONE) {
      admissions = Admissions.NONE;
    }
    return admit(entry);
  }

  private List<PreemptionTarget> movesFrom(QueuedWorkload workload) {
    return family(workload).isEmpty() ? List.of() : rules.movesFrom(workload);
  }

  /** The parent whose request a Workload is a nomination of; empty if it is none. */
  private static String family(QueuedWorkload workload) {
    return workload
        .equivalenceClass()
        .shape()
        .slice()
        .filter(slice -> slice.variant().isPresent())
        .map(slice -> workload.id().namespace() + "/" + slice.job())
        .orElse("");
  }

  /** Records that a variant gets quota, or another one's place: no other one does in this cycle. */
  private void decided(QueuedWorkload workload) {
    String family = family(workload);
    if (!family.isEmpty()) {
      decidedFamilies.add(family);
    }
  }

  private CycleOutcome.Admitted admit(NominatedWorkload entry) {
    decided(entry.item());
    QuotaNode node = entry.queue().node();
    for (PairAmount request : entry.assignment().usage()) {
      node.add(request.pair(), request.amount());
      if (entry.guaranteed()) {
        node.addGuaranteed(request.pair(), request.amount());
      }
    }
    node.countWorkloads(1);
    budgets.admitted(entry.item(), entry.queue(), entry.assignment().usage());
    TopologyUsage places = entry.assignment().places().usage();
    if (places != null) {
      places.add();
    }
    countCostRules(entry);
    return new CycleOutcome.Admitted(entry.item(), entry.queue(), entry.assignment());
  }

  private void countCostRules(NominatedWorkload entry) {
    ClusterQueueCache queue = entry.queue();
    FlavorCosts.rulesUsed(
            entry.item().equivalenceClass().demand(queue), entry.assignment()::attempts)
        .forEach(rule -> costRuleUses.add(new CycleStatistics.CostRuleUse(queue.name(), rule)));
  }

  private static CycleOutcome gated(NominatedWorkload entry) {
    return new CycleOutcome.PreemptionGated(
        entry.item(),
        entry.queue(),
        CycleExplanations.preemptionGated(entry),
        entry.search().began());
  }

  private static CycleOutcome notProcessed(NominatedWorkload entry) {
    restoreProgress(entry);
    return new CycleOutcome.NotProcessed(entry.item(), entry.queue());
  }

  /**
   * Restores the search progress, so that the next cycle evaluates the head as if this cycle had
   * not happened.
   */
  private static void restoreProgress(NominatedWorkload entry) {
    entry.item().flavorProgress(progressBefore(entry));
  }

  private static @Nullable FlavorProgress progressBefore(NominatedWorkload entry) {
    FlavorProgress before = entry.search().before();
    boolean stale = entry.search().from().last().isEmpty();
    return before == null || stale ? before : before.untilQuotaChanges();
  }

  /** Reserves quota for a head that waits for preemption, so that later heads can't use it. */
  private CycleOutcome awaitPreemption(
      NominatedWorkload entry, List<PreemptionTarget> preemptionTargets) {
    QuotaNode node = entry.queue().node();
    cycleReservations.addTargets(preemptionTargets);
    budgets.preempted(preemptionTargets);
    cycleReservations.reserve(node, entry.assignment().usage(), entry.guaranteed());
    cycleReservations.reserve(node, entry.assignment().places());
    return new CycleOutcome.PendingPreemption(
        entry.item(),
        entry.queue(),
        preemptionTargets,
        CycleExplanations.WAITS_FOR_PREEMPTION,
        entry.search().began(),
        !entry.search().from().last().isEmpty());
  }

  private CycleOutcome skipped(NominatedWorkload entry) {
    if (!entry.preemptionTargets().isEmpty()) {
      preemptionSkips.merge(entry.queue().name(), 1, Integer::sum);
    }
    recordProgress(entry, 0);
    NominatedWorkload.Resumed next = NominatedWorkload.Resumed.at(entry.assignment().progress());
    return new CycleOutcome.Skipped(
        entry.item(),
        entry.queue(),
        WaitingWorkloads.QUOTA_RESERVED_BY_OTHERS,
        entry.search().from().equals(next),
        next.last(),
        progressBefore(entry));
  }

  private CycleOutcome noFit(NominatedWorkload entry) {
    Assignment assignment = entry.assignment();
    ClusterQueueCache queue = entry.queue();
    boolean reserves = reserves(entry);
    if (reserves) {
      cycleReservations.reserve(
          queue.node(), reservation(assignment, queue.node()), entry.guaranteed());
    }
    if (entry.hasFlavorsLeft()) {
      recordProgress(entry, entry.search().searchCycles() + 1);
      return new CycleOutcome.TryNextFlavor(entry.item(), queue);
    }
    countCostRules(entry);
    Assignment minimum = entry.minimumAssignment();
    PreemptionObstacles obstacles = obstacles(entry.item(), queue, minimum);
    obstacles
        .rules()
        .forEach(rule -> ruleUses.add(new CycleStatistics.RuleUse(queue.name(), rule)));
    return new CycleOutcome.NoFit(
        entry.item(),
        queue,
        CycleExplanations.noFit(entry, obstacles),
        shortages(minimum),
        assignment.competing() || minimum.competing(),
        mayFindTargets(queue, minimum.noFit()),
        reserves,
        entry.search().searched());
  }

  /** Whether a head that finds no targets keeps what it could use from others. */
  private static boolean reserves(NominatedWorkload entry) {
    return entry.assignment().needsPreemption()
        && entry.queue().spec().preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY;
  }

  private PreemptionObstacles obstacles(
      QueuedWorkload head, ClusterQueueCache queue, Assignment assignment) {
    return queue.mayPreempt() && assignment.needsPreemption()
        ? nominator.obstacles(head, queue, assignment)
        : PreemptionObstacles.NONE;
  }

  /** Whether new or changed preemption candidates may make a class fit; false if it never fits. */
  private static boolean mayFindTargets(ClusterQueueCache queue, @Nullable PendingReason reason) {
    return queue.mayPreempt() && (reason == null || reason == PendingReason.WAITING_FOR_QUOTA);
  }

  /**
   * The reservation for a head that needs preemption and has no sufficient targets: at most what it
   * could ever use.
   */
  private static List<PairAmount> reservation(Assignment assignment, QuotaNode node) {
    List<PairAmount> reserved = new ArrayList<>(assignment.usage().size());
    for (PairAmount request : assignment.usage()) {
      long quota = node.nominal(request.pair());
      if (assignment.borrowLevel() > 0) {
        quota = ResourceAmounts.add(quota, node.borrowingLimit(request.pair()));
      }
      long left = ResourceAmounts.subtract(quota, node.usage(request.pair()));
      reserved.add(new PairAmount(request.pair(), Math.max(0, Math.min(request.amount(), left))));
    }
    return reserved;
  }

  private void recordProgress(NominatedWorkload entry, int searchCycles) {
    int @Nullable [] progress = entry.assignment().progress();
    ClusterQueueCache queue = entry.queue();
    entry
        .item()
        .flavorProgress(
            progress == null
                ? null
                : new FlavorProgress(
                    progress,
                    queue,
                    queue.quotaGeneration(),
                    number,
                    entry.search().began(),
                    searchCycles));
  }

  private static List<EquivalenceClass.Shortage> shortages(Assignment assignment) {
    List<EquivalenceClass.Shortage> shortages = new ArrayList<>(assignment.shortages().size());
    for (PairAmount shortage : assignment.shortages()) {
      shortages.add(new EquivalenceClass.Shortage(shortage.pair(), shortage.amount()));
    }
    return shortages;
  }

  /** What a cycle has to know about heads besides quota. */
  public interface HeadRules {

    /** Why a Workload can't be evaluated, whatever the quota; empty if it can. */
    Optional<Explanation> ineligibility(QueuedWorkload workload, ClusterQueueCache queue);

    /**
     * The variants with quota that a variant evicts when it fits, in place of getting quota
     * (docs/concurrent-admission.md); empty if it gets quota.
     */
    List<PreemptionTarget> movesFrom(QueuedWorkload workload);
  }
}
