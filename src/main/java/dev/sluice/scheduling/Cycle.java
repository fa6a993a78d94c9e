package dev.sluice.scheduling;

import dev.sluice.model.Amounts;
import dev.sluice.model.Explanation;
import dev.sluice.model.FairSharing;
import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorAttempt;
import dev.sluice.model.FlavorMode;
import dev.sluice.model.PendingReason;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.WorkloadShape;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.FlavorProgress;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.FairShares;
import dev.sluice.quota.QuotaNode;
import dev.sluice.scheduling.flavor.Assignment;
import dev.sluice.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.scheduling.preemption.ClassicalPreemption;
import dev.sluice.scheduling.preemption.FairPreemption;
import dev.sluice.scheduling.preemption.Victim;
import dev.sluice.scheduling.preemption.VictimSearch;
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
 * One scheduling cycle (scheduling semantics, section 4): the head of every queue is nominated, the
 * nominated are put in order, and each gets its quota if it still fits after those before it. It
 * changes usage of the quota tree for whom it admits, and nothing else.
 */
public final class Cycle {

  /**
   * How cycles decide; chosen once.
   *
   * @param victims whom a Workload may preempt
   * @param order in which order the nominated are processed
   */
  public record Strategies(VictimSearch victims, CycleOrder order) {

    /** Those who borrow least come first, and priority says whom they may preempt. */
    public static Strategies classical(Function<QuotaNode, @Nullable QueueState> queues) {
      return new Strategies(new ClassicalPreemption(queues), new ClassicalOrder());
    }

    /** Those who have least of what is shared come first, and preempt those who have most. */
    public static Strategies fair(
        FairSharing rules, FairShares shares, Function<QuotaNode, @Nullable QueueState> queues) {
      return new Strategies(
          new FairPreemption(rules, shares, queues),
          new FairOrder(shares, rules.nonBorrowingFirst()));
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
  private final BiFunction<PendingItem, QueueState, Optional<Explanation>> bar;
  private final long number;
  private final Claims claims = new Claims();
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
  public Cycle(
      Strategies strategies,
      Map<String, Flavor> flavors,
      BiFunction<PendingItem, QueueState, Optional<Explanation>> bar,
      long number,
      Admissions admissions) {
    this.strategies = strategies;
    this.nominator = new Nominator(flavors, strategies.victims(), number);
    this.bar = bar;
    this.number = number;
    this.admissions = admissions;
  }

  /** Decides on these heads of queues; one outcome each, in the order of decision. */
  public List<Outcome> run(Map<QueueState, PendingItem> heads) {
    List<Outcome> outcomes = new ArrayList<>(heads.size());
    List<Nominated> nominated = new ArrayList<>(heads.size());
    heads.forEach(
        (queue, head) -> {
          Optional<Explanation> barred = bar.apply(head, queue);
          if (barred.isPresent()) {
            outcomes.add(new Outcome.Barred(head, queue, barred.get()));
          } else {
            nominated.add(nominator.nominate(head, queue));
          }
        });
    Iterator<Nominated> order = strategies.order().order(nominated);
    while (order.hasNext()) {
      Nominated next = order.next();
      outcomes.add(stopped ? leftOut(next) : process(next));
    }
    claims.undo();
    return outcomes;
  }

  private Outcome process(Nominated entry) {
    QuotaNode node = entry.queue().node();
    if (!entry.succeeds()) {
      return noFit(entry);
    }
    if (claims.overlap(node, entry.victims())) {
      Nominated again = claims.afterVictims(node, nominator, entry);
      if (again.assignment().fits()) {
        return waitFor(again, List.of());
      }
      return again.succeeds() ? take(again) : noFit(again);
    }
    return take(entry);
  }

  private Outcome take(Nominated entry) {
    if (!entry.victims().isEmpty() && entry.item().gated()) {
      return gated(entry);
    }
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    if (!claims.fitsAfter(node, usage, entry.victims())) {
      return overtaken(entry);
    }
    if (!entry.victims().isEmpty() || !claims.fitsNow(node, usage)) {
      return waitFor(entry, entry.victims());
    }
    if (admissions == Admissions.NONE) {
      stopped = true;
      rest(entry);
      return new Outcome.Blocked(entry.item(), entry.queue(), WAITS_FOR_PODS);
    }
    if (admissions == Admissions.ONE) {
      admissions = Admissions.NONE;
    }
    for (PairAmount use : usage) {
      node.add(use.pair(), use.amount());
    }
    return new Outcome.Admitted(entry.item(), entry.queue(), entry.assignment());
  }

  private static Outcome gated(Nominated entry) {
    Explanation explanation =
        new Explanation(
            PendingReason.WAITING_FOR_QUOTA, entry.assignment().attempts(), GATE_CLOSED, true);
    return new Outcome.Gated(entry.item(), entry.queue(), explanation, entry.search().began());
  }

  private static Outcome leftOut(Nominated entry) {
    rest(entry);
    return new Outcome.LeftOut(entry.item(), entry.queue());
  }

  /** It will be looked at as if this cycle had not been. */
  private static void rest(Nominated entry) {
    FlavorProgress before = entry.search().before();
    boolean stale = entry.search().from().last().isEmpty();
    entry.item().flavorProgress(before == null || stale ? before : before.resting());
  }

  /** It gets nothing yet, but nobody after it gets what it waits for. */
  private Outcome waitFor(Nominated entry, List<Victim> victims) {
    QuotaNode node = entry.queue().node();
    claims.victims(node, victims);
    claims.claim(node, entry.assignment().usage());
    return new Outcome.Waiting(
        entry.item(), entry.queue(), victims, WAITS_FOR_VICTIMS, entry.search().began());
  }

  private Outcome overtaken(Nominated entry) {
    remember(entry, 0);
    int[] progress = entry.assignment().progress();
    boolean repeats = entry.search().from().equals(Nominated.Resumed.at(progress));
    return new Outcome.Overtaken(entry.item(), entry.queue(), OVERTAKEN, repeats);
  }

  private Outcome noFit(Nominated entry) {
    Assignment assignment = entry.assignment();
    QueueState queue = entry.queue();
    boolean reserves =
        assignment.needsPreemption()
            && queue.spec().preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY;
    if (reserves) {
      claims.claim(queue.node(), reservation(assignment, queue.node()));
    }
    if (entry.walksOn()) {
      remember(entry, entry.search().walked() + 1);
      return new Outcome.Walking(entry.item(), queue);
    }
    PendingReason reason = assignment.noFit();
    Explanation explanation =
        new Explanation(
            reason == null ? PendingReason.WAITING_FOR_QUOTA : reason,
            assignment.attempts(),
            detail(entry));
    Assignment bound = entry.bound();
    return new Outcome.NoFit(
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
  private static boolean mayFindVictims(QueueState queue, @Nullable PendingReason reason) {
    return queue.mayPreempt() && (reason == null || reason == PendingReason.WAITING_FOR_QUOTA);
  }

  /** What is kept for one that would have to preempt and can't: as much as it may ever use. */
  private static List<PairAmount> reservation(Assignment assignment, QuotaNode node) {
    List<PairAmount> kept = new ArrayList<>(assignment.usage().size());
    for (PairAmount use : assignment.usage()) {
      long quota = node.nominal(use.pair());
      if (assignment.borrowLevel() > 0) {
        quota = Amounts.add(quota, node.borrowingLimit(use.pair()));
      }
      long left = Amounts.subtract(quota, node.usage(use.pair()));
      kept.add(new PairAmount(use.pair(), Math.max(0, Math.min(use.amount(), left))));
    }
    return kept;
  }

  private static String detail(Nominated entry) {
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

  private static String notEven(WorkloadShape shape) {
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

  private static String preemption(Assignment assignment, QueueState queue) {
    if (!assignment.needsPreemption() || !queue.mayPreempt()) {
      return "";
    }
    for (FlavorAttempt attempt : assignment.attempts()) {
      if (attempt.mode() == FlavorMode.PREEMPT || attempt.mode() == FlavorMode.RECLAIM) {
        return NOT_ALL_AT_ONCE;
      }
    }
    return NOBODY_TO_PREEMPT;
  }

  private void remember(Nominated entry, int walked) {
    int @Nullable [] progress = entry.assignment().progress();
    QueueState queue = entry.queue();
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
