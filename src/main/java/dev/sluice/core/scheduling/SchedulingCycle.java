package dev.sluice.core.scheduling;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.RequestShape;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyUsage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One scheduling cycle (docs/scheduling-semantics.md#the-cycle): nominates the head of every queue,
 * orders the nominated Workloads, and admits each one that still fits after the ones before it. It
 * adds the usage of admitted Workloads to the quota tree, and changes nothing else.
 */
public final class SchedulingCycle {

  /** The annotation that limits the number of Workloads with quota, named in explanations. */
  public static final String WORKLOAD_LIMIT = "sluice.dev/max-concurrent-workloads";

  private static final Explanation WAITS_FOR_PREEMPTION =
      new Explanation(
          PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS,
          List.of(),
          "it waits until the workloads that are preempted for it have stopped");

  /** Why a head waits that was skipped. */
  public static final Explanation QUOTA_RESERVED_BY_OTHERS =
      new Explanation(
          PendingReason.WAITING_FOR_QUOTA,
          List.of(),
          "workloads that come before it need the quota");

  private static final Explanation WAITS_FOR_PODS =
      new Explanation(
          PendingReason.WAITING_FOR_PODS_READY,
          List.of(),
          "it fits, but no workload is admitted until the pods of all admitted workloads are"
              + " ready");

  private static final Explanation QUEUE_WAITS_FOR_PODS =
      new Explanation(
          PendingReason.WAITING_FOR_PODS_READY,
          List.of(),
          "the ClusterQueue admits no workload until the pods of all its admitted workloads are"
              + " ready");

  /** How many Workloads a cycle may admit. */
  public enum Admissions {
    /** All that fit. */
    ANY,
    /** One; then none until its pods are ready. */
    ONE,
    /** None: not all pods of admitted Workloads are ready. */
    NONE
  }

  private static final String NO_SUFFICIENT_TARGETS =
      "preemption does not help: no workload that it may preempt would free enough";

  private static final String NO_TARGETS_FOR_ALL =
      "preemption does not help: no workloads that it may preempt would free everything it needs at"
          + " once";

  private static final String NOT_EVICTABLE_LEFT_OUT =
      " (not counted: workloads of kinds that are not managed here, whose pods nobody would stop)";

  private static final String GATE_CLOSED =
      "preemption would make room for it, but a preemption gate of the workload is closed";

  private static final String PREEMPTION_OFF = "preemption is off in this ClusterQueue";

  private static final String NO_PREEMPTION =
      "the preemption policies of this ClusterQueue don't cover what is missing";

  private final WorkloadOrdering ordering;
  private final Nominator nominator;
  private final BiFunction<QueuedWorkload, ClusterQueueCache, Optional<Explanation>>
      eligibilityCheck;
  private final long number;
  private final CycleReservations cycleReservations = new CycleReservations();
  private final boolean recomputesPlaces;
  private final boolean recomputesTargets;
  private List<PlainCandidate> skipped = List.of();
  private Set<PlainCandidate> notSkipped = Set.of();
  private final Map<String, Integer> preemptionSkips = new HashMap<>();
  private final List<CycleStatistics.Recomputation> recomputations = new ArrayList<>();
  private Admissions admissions;
  private boolean stopped;

  /**
   * Creates a cycle.
   *
   * @param policy the order and the preemption
   * @param flavors the existing flavors, by name
   * @param topologies the topologies of flavors, and what is free in them
   * @param eligibilityCheck why a Workload can't be evaluated, whatever the quota; empty if it can
   * @param number the number of the cycle
   * @param admissions how many Workloads may be admitted; the cycle ends at the first one that fits
   *     and may not be admitted
   */
  public SchedulingCycle(
      SchedulingPolicy policy,
      Map<String, Flavor> flavors,
      TopologyCache topologies,
      BiFunction<QueuedWorkload, ClusterQueueCache, Optional<Explanation>> eligibilityCheck,
      long number,
      Admissions admissions) {
    this.ordering = new QueuePriorityOrdering(policy.ordering());
    this.nominator = new Nominator(flavors, topologies, policy.preemption(), number);
    this.recomputesTargets = policy.recomputesTargets();
    this.recomputesPlaces = topologies.options().recomputes();
    this.eligibilityCheck = eligibilityCheck;
    this.number = number;
    this.admissions = admissions;
  }

  /**
   * Processes the heads of queues; returns one outcome for each, in the order of decision.
   *
   * @param plain other heads; those of them that are skipped get no outcome
   */
  public List<CycleOutcome> run(
      Map<ClusterQueueCache, QueuedWorkload> heads, List<PlainCandidate> plain) {
    List<CycleOutcome> cycleOutcomes = new ArrayList<>(heads.size());
    List<NominatedWorkload> nominated = new ArrayList<>(heads.size() + plain.size());
    heads.forEach(
        (queue, head) -> {
          Optional<Explanation> ineligibility = eligibilityCheck.apply(head, queue);
          if (ineligibility.isPresent()) {
            cycleOutcomes.add(new CycleOutcome.Ineligible(head, queue, ineligibility.get()));
          } else if (queue.waitsForPods() || queue.node().atWorkloadLimit() != null) {
            cycleOutcomes.add(queueBlocked(head, queue));
          } else {
            nominated.add(nominator.nominate(head, queue));
          }
        });
    int others = nominated.size();
    for (PlainCandidate candidate : plain) {
      nominated.add(nominator.nominatePlain(candidate));
    }
    PlainHeads plainHeads = new PlainHeads(plain);
    Iterator<NominatedWorkload> order = ordering.order(nominated);
    while (others > 0 || plainHeads.mayFit(cycleReservations)) {
      NominatedWorkload next = order.next();
      PlainCandidate candidate = next.plain();
      if (candidate == null) {
        others--;
        cycleOutcomes.add(stopped ? notProcessed(next) : process(next));
      } else if (cycleReservations.mayFitWithoutTargets(next)) {
        plainHeads.processed(candidate);
        cycleOutcomes.add(process(next));
      } else {
        plainHeads.skipped();
      }
    }
    skipped = plainHeads.withoutOutcome();
    notSkipped = plainHeads.withOutcome();
    cycleReservations.undo();
    return cycleOutcomes;
  }

  /** The plain heads that were skipped without an outcome; to be called after {@link #run}. */
  public List<PlainCandidate> skipped() {
    return skipped;
  }

  /** The plain heads that have an outcome; to be called after {@link #run}. */
  public Set<PlainCandidate> notSkipped() {
    return notSkipped;
  }

  private static CycleOutcome queueBlocked(QueuedWorkload head, ClusterQueueCache queue) {
    if (queue.waitsForPods()) {
      return new CycleOutcome.QueueBlocked(head, queue, QUEUE_WAITS_FOR_PODS);
    }
    QuotaNode node = Objects.requireNonNull(queue.node().atWorkloadLimit());
    return new CycleOutcome.QueueBlocked(
        head,
        queue,
        new Explanation(
            PendingReason.WAITING_FOR_QUOTA,
            List.of(),
            (node == queue.node() ? "ClusterQueue " : "Cohort ")
                + node.name()
                + " has as many workloads with quota as "
                + WORKLOAD_LIMIT
                + " allows: "
                + node.workloads()));
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
    if (recomputesTargets && cycleReservations.overlaps(node, entry.preemptionTargets())) {
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

  /** What happened to heads that need preemption; to be called after {@link #run}. */
  public CycleStatistics statistics() {
    return new CycleStatistics(preemptionSkips, recomputations);
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
    if (!entry.preemptionTargets().isEmpty() && entry.item().gated()) {
      return gated(entry);
    }
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    if (cycleReservations.overlaps(node, entry.preemptionTargets())
        || !cycleReservations.quotaFitsWithoutTargets(entry)
        || !cycleReservations.placesFitWithoutTargets(entry)) {
      return skipped(entry);
    }
    if (!entry.preemptionTargets().isEmpty() || !cycleReservations.fitsWithTargets(entry)) {
      return awaitPreemption(entry, entry.preemptionTargets());
    }
    if (admissions == Admissions.NONE) {
      stopped = true;
      restoreProgress(entry);
      return new CycleOutcome.WaitingForPodsReady(entry.item(), entry.queue(), WAITS_FOR_PODS);
    }
    if (admissions == Admissions.ONE) {
      admissions = Admissions.NONE;
    }
    for (PairAmount request : usage) {
      node.add(request.pair(), request.amount());
      if (entry.guaranteed()) {
        node.addGuaranteed(request.pair(), request.amount());
      }
    }
    node.countWorkloads(1);
    TopologyUsage places = entry.assignment().places().usage();
    if (places != null) {
      places.add();
    }
    return new CycleOutcome.Admitted(entry.item(), entry.queue(), entry.assignment());
  }

  private static CycleOutcome gated(NominatedWorkload entry) {
    Explanation explanation =
        new Explanation(
            PendingReason.WAITING_FOR_QUOTA, entry.assignment().attempts(), GATE_CLOSED, true);
    return new CycleOutcome.PreemptionGated(
        entry.item(), entry.queue(), explanation, entry.search().began());
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
    cycleReservations.addTargets(node, preemptionTargets);
    cycleReservations.reserve(node, entry.assignment().usage(), entry.guaranteed());
    cycleReservations.reserve(node, entry.assignment().places());
    return new CycleOutcome.PendingPreemption(
        entry.item(),
        entry.queue(),
        preemptionTargets,
        WAITS_FOR_PREEMPTION,
        entry.search().began());
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
        QUOTA_RESERVED_BY_OTHERS,
        entry.search().from().equals(next),
        next.last(),
        progressBefore(entry));
  }

  private CycleOutcome noFit(NominatedWorkload entry) {
    Assignment assignment = entry.assignment();
    ClusterQueueCache queue = entry.queue();
    boolean reserves =
        assignment.needsPreemption()
            && queue.spec().preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY;
    if (reserves) {
      cycleReservations.reserve(
          queue.node(), reservation(assignment, queue.node()), entry.guaranteed());
    }
    if (entry.hasFlavorsLeft()) {
      recordProgress(entry, entry.search().searchCycles() + 1);
      return new CycleOutcome.TryNextFlavor(entry.item(), queue);
    }
    Assignment minimum = entry.minimumAssignment();
    PendingReason reason = minimum.noFit();
    Explanation explanation =
        new Explanation(
            reason != null
                ? reason
                : minimum.places().lacking()
                    ? PendingReason.TOPOLOGY_PLACEMENT_FAILED
                    : PendingReason.WAITING_FOR_QUOTA,
            minimum.attempts(),
            detail(entry));
    return new CycleOutcome.NoFit(
        entry.item(),
        queue,
        explanation,
        shortages(minimum),
        assignment.competing() || minimum.competing(),
        mayFindTargets(queue, minimum.noFit()),
        reserves,
        entry.search().searchCycles() > 0);
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

  private String detail(NominatedWorkload entry) {
    Assignment minimum = entry.minimumAssignment();
    String preemption = preemption(entry.item(), minimum, entry.queue());
    if (entry.fewestPods() == null) {
      return preemption;
    }
    boolean ineligibility = preemption.isEmpty() && !mayNeverFit(minimum);
    return minimumDoesNotFit(entry.item().equivalenceClass().shape())
        + (ineligibility ? "; " + NO_PREEMPTION : preemption.isEmpty() ? "" : "; " + preemption);
  }

  private static boolean mayNeverFit(Assignment assignment) {
    PendingReason reason = assignment.noFit();
    return reason != null && reason != PendingReason.WAITING_FOR_QUOTA;
  }

  private static String minimumDoesNotFit(RequestShape shape) {
    return "it doesn't fit even with the fewest pods it may start with ("
        + shape.podSets().stream()
            .filter(podSet -> podSet.spare() > 0)
            .map(
                podSet ->
                    "pod set %s: %d of %d"
                        .formatted(podSet.name(), podSet.minCount(), podSet.count()))
            .collect(Collectors.joining(", "))
        + ")";
  }

  private String preemption(QueuedWorkload head, Assignment assignment, ClusterQueueCache queue) {
    if (!queue.mayPreempt()) {
      return mayNeverFit(assignment) || assignment.places().lacking() ? "" : PREEMPTION_OFF;
    }
    if (!assignment.needsPreemption()) {
      return "";
    }
    return (hasTargetsForAny(assignment) ? NO_TARGETS_FOR_ALL : NO_SUFFICIENT_TARGETS)
        + (nominator.meetsNotEvictable(head, queue, assignment) ? NOT_EVICTABLE_LEFT_OUT : "");
  }

  private static boolean hasTargetsForAny(Assignment assignment) {
    for (FlavorAttempt attempt : assignment.attempts()) {
      if (attempt.mode() == AssignmentMode.PREEMPT || attempt.mode() == AssignmentMode.RECLAIM) {
        return true;
      }
    }
    return false;
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
}
