package dev.sluice.core.scheduling;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.RequestShape;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.ClassicalPreemption;
import dev.sluice.core.scheduling.preemption.FairPreemption;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One scheduling cycle (docs/scheduling-semantics.md#the-cycle): the head of every queue is
 * nominated, the nominated are put in order, and each gets its quota if it still fits after those
 * before it. It changes usage of the quota tree for whom it admits, and nothing else.
 */
public final class SchedulingCycle {

  /**
   * How cycles decide; chosen once.
   *
   * @param victims whom a Workload may preempt
   * @param order in which order the nominated are processed
   */
  public record Strategies(PreemptionStrategy victims, WorkloadOrdering order) {

    /** Those who borrow least come first, and priority says whom they may preempt. */
    public static Strategies classical(Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
      return new Strategies(new ClassicalPreemption(queues), new ClassicalOrdering());
    }

    /** Those who have least of what is shared come first, and preempt those who have most. */
    public static Strategies fair(
        FairSharing rules,
        FairShareCalculator shares,
        Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
      return new Strategies(
          new FairPreemption(rules, shares, queues),
          new FairSharingOrdering(shares, rules.nonBorrowingFirst()));
    }
  }

  private static final Explanation WAITS_FOR_VICTIMS =
      new Explanation(
          PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS,
          List.of(),
          "its quota is being freed: it waits until the workloads that are preempted for it have"
              + " stopped");

  private static final Explanation OVERTAKEN =
      new Explanation(
          PendingReason.WAITING_FOR_QUOTA,
          List.of(),
          "what it needs is kept for workloads that come before it");

  private static final Explanation WAITS_FOR_PODS =
      new Explanation(
          PendingReason.WAITING_FOR_PODS_READY,
          List.of(),
          "it fits, but nobody is admitted until the pods of all admitted workloads are ready");

  /** How many may be admitted. */
  public enum Admissions {
    /** All who fit. */
    ANY,
    /** One; then nobody until its pods are ready. */
    ONE,
    /** Nobody: not all pods of admitted Workloads are ready. */
    NONE
  }

  private static final String NOBODY_TO_PREEMPT =
      "preemption was considered: nobody whom it may preempt would free enough";

  private static final String NOT_ALL_AT_ONCE =
      "preemption was considered: nobody whom it may preempt would free enough of everything it"
          + " needs at once";

  private static final String GATE_CLOSED =
      "preemption would make room for it, but a preemption gate of the workload is closed";

  private static final String NO_PREEMPTION =
      "preemption would not help: the policies of its ClusterQueue don't allow it for all that is"
          + " missing";

  private final Strategies strategies;
  private final Nominator nominator;
  private final BiFunction<QueuedWorkload, ClusterQueueCache, Optional<Explanation>> bar;
  private final long number;
  private final CycleReservations cycleReservations = new CycleReservations();
  private Admissions admissions;
  private boolean stopped;

  /**
   * A cycle.
   *
   * @param strategies how it decides
   * @param flavors the flavors that exist, by name
   * @param bar why an item can't be considered whatever the quota, if so
   * @param number counts cycles
   * @param admissions how many may be admitted; when one fits who may not, the cycle ends
   */
  public SchedulingCycle(
      Strategies strategies,
      Map<String, Flavor> flavors,
      BiFunction<QueuedWorkload, ClusterQueueCache, Optional<Explanation>> bar,
      long number,
      Admissions admissions) {
    this.strategies = strategies;
    this.nominator = new Nominator(flavors, strategies.victims(), number);
    this.bar = bar;
    this.number = number;
    this.admissions = admissions;
  }

  /** Decides on these heads of queues; one outcome each, in the order of decision. */
  public List<CycleOutcome> run(Map<ClusterQueueCache, QueuedWorkload> heads) {
    List<CycleOutcome> cycleOutcomes = new ArrayList<>(heads.size());
    List<NominatedWorkload> nominatedWorkload = new ArrayList<>(heads.size());
    heads.forEach(
        (queue, head) -> {
          Optional<Explanation> barred = bar.apply(head, queue);
          if (barred.isPresent()) {
            cycleOutcomes.add(new CycleOutcome.Ineligible(head, queue, barred.get()));
          } else {
            nominatedWorkload.add(nominator.nominate(head, queue));
          }
        });
    Iterator<NominatedWorkload> order = strategies.order().order(nominatedWorkload);
    while (order.hasNext()) {
      NominatedWorkload next = order.next();
      cycleOutcomes.add(stopped ? leftOut(next) : process(next));
    }
    cycleReservations.undo();
    return cycleOutcomes;
  }

  private CycleOutcome process(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    if (!entry.succeeds()) {
      return noFit(entry);
    }
    if (cycleReservations.overlap(node, entry.preemptionTargets())) {
      NominatedWorkload again = cycleReservations.afterVictims(node, nominator, entry);
      if (again.assignment().fits()) {
        return waitFor(again, List.of());
      }
      return again.succeeds() ? take(again) : noFit(again);
    }
    return take(entry);
  }

  private CycleOutcome take(NominatedWorkload entry) {
    if (!entry.preemptionTargets().isEmpty() && entry.item().gated()) {
      return gated(entry);
    }
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    if (!cycleReservations.fitsAfter(node, usage, entry.preemptionTargets())) {
      return overtaken(entry);
    }
    if (!entry.preemptionTargets().isEmpty() || !cycleReservations.fitsNow(node, usage)) {
      return waitFor(entry, entry.preemptionTargets());
    }
    if (admissions == Admissions.NONE) {
      stopped = true;
      rest(entry);
      return new CycleOutcome.WaitingForPodsReady(entry.item(), entry.queue(), WAITS_FOR_PODS);
    }
    if (admissions == Admissions.ONE) {
      admissions = Admissions.NONE;
    }
    for (PairAmount use : usage) {
      node.add(use.pair(), use.amount());
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

  private static CycleOutcome leftOut(NominatedWorkload entry) {
    rest(entry);
    return new CycleOutcome.NotProcessed(entry.item(), entry.queue());
  }

  /** It will be looked at as if this cycle had not been. */
  private static void rest(NominatedWorkload entry) {
    FlavorProgress before = entry.search().before();
    boolean stale = entry.search().from().last().isEmpty();
    entry.item().flavorProgress(before == null || stale ? before : before.untilQuotaChanges());
  }

  /** It gets nothing yet, but nobody after it gets what it waits for. */
  private CycleOutcome waitFor(NominatedWorkload entry, List<PreemptionTarget> preemptionTargets) {
    QuotaNode node = entry.queue().node();
    cycleReservations.victims(node, preemptionTargets);
    cycleReservations.reserve(node, entry.assignment().usage());
    return new CycleOutcome.PendingPreemption(
        entry.item(), entry.queue(), preemptionTargets, WAITS_FOR_VICTIMS, entry.search().began());
  }

  private CycleOutcome overtaken(NominatedWorkload entry) {
    remember(entry, 0);
    int[] progress = entry.assignment().progress();
    boolean repeats = entry.search().from().equals(NominatedWorkload.Resumed.at(progress));
    return new CycleOutcome.Skipped(entry.item(), entry.queue(), OVERTAKEN, repeats);
  }

  private CycleOutcome noFit(NominatedWorkload entry) {
    Assignment assignment = entry.assignment();
    ClusterQueueCache queue = entry.queue();
    boolean reserves =
        assignment.needsPreemption()
            && queue.spec().preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY;
    if (reserves) {
      cycleReservations.reserve(queue.node(), reservation(assignment, queue.node()));
    }
    if (entry.walksOn()) {
      remember(entry, entry.search().walked() + 1);
      return new CycleOutcome.TryNextFlavor(entry.item(), queue);
    }
    PendingReason reason = assignment.noFit();
    Explanation explanation =
        new Explanation(
            reason == null ? PendingReason.WAITING_FOR_QUOTA : reason,
            assignment.attempts(),
            detail(entry));
    Assignment bound = entry.bound();
    return new CycleOutcome.NoFit(
        entry.item(),
        queue,
        explanation,
        lacks(bound),
        assignment.competing() || bound.competing(),
        mayFindVictims(queue, bound.noFit()),
        reserves,
        entry.search().walked() > 0);
  }

  /** Whether candidates for preemption that come or change may help; none help who never fits. */
  private static boolean mayFindVictims(ClusterQueueCache queue, @Nullable PendingReason reason) {
    return queue.mayPreempt() && (reason == null || reason == PendingReason.WAITING_FOR_QUOTA);
  }

  /** What is kept for one that would have to preempt and can't: as much as it may ever use. */
  private static List<PairAmount> reservation(Assignment assignment, QuotaNode node) {
    List<PairAmount> kept = new ArrayList<>(assignment.usage().size());
    for (PairAmount use : assignment.usage()) {
      long quota = node.nominal(use.pair());
      if (assignment.borrowLevel() > 0) {
        quota = ResourceAmounts.add(quota, node.borrowingLimit(use.pair()));
      }
      long left = ResourceAmounts.subtract(quota, node.usage(use.pair()));
      kept.add(new PairAmount(use.pair(), Math.max(0, Math.min(use.amount(), left))));
    }
    return kept;
  }

  private static String detail(NominatedWorkload entry) {
    Assignment bound = entry.bound();
    String preemption = preemption(bound, entry.queue());
    if (entry.least() == null) {
      return preemption;
    }
    boolean barred = preemption.isEmpty() && !mayNeverFit(bound);
    return notEven(entry.item().equivalenceClass().shape())
        + (barred ? "; " + NO_PREEMPTION : preemption.isEmpty() ? "" : "; " + preemption);
  }

  private static boolean mayNeverFit(Assignment assignment) {
    PendingReason reason = assignment.noFit();
    return reason != null && reason != PendingReason.WAITING_FOR_QUOTA;
  }

  private static String notEven(RequestShape shape) {
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

  private static String preemption(Assignment assignment, ClusterQueueCache queue) {
    if (!assignment.needsPreemption() || !queue.mayPreempt()) {
      return "";
    }
    for (FlavorAttempt attempt : assignment.attempts()) {
      if (attempt.mode() == AssignmentMode.PREEMPT || attempt.mode() == AssignmentMode.RECLAIM) {
        return NOT_ALL_AT_ONCE;
      }
    }
    return NOBODY_TO_PREEMPT;
  }

  private void remember(NominatedWorkload entry, int walked) {
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
                    walked));
  }

  private static List<EquivalenceClass.Lack> lacks(Assignment assignment) {
    List<EquivalenceClass.Lack> lacks = new ArrayList<>(assignment.lacks().size());
    for (PairAmount lack : assignment.lacks()) {
      lacks.add(new EquivalenceClass.Lack(lack.pair(), lack.amount()));
    }
    return lacks;
  }
}
