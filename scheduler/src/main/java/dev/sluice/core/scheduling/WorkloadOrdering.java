package dev.sluice.core.scheduling;

import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.queue.QueuedWorkload;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;

/** The order in which a cycle processes nominated Workloads; selected by the configuration. */
@FunctionalInterface
public interface WorkloadOrdering {

  /**
   * What decides between nominated Workloads, from the feature gates.
   *
   * @param byPriority whether a higher priority comes before an earlier queue timestamp (gate
   *     PrioritySortingWithinCohort)
   * @param preemptorsFirst whether Workloads for which others were preempted come before all others
   *     (gate PrioritizePreemptorWorkloads)
   * @param recomputesTargets whether a Workload with a preemption target that an earlier one has is
   *     assigned again within the cycle, and otherwise waits for the next one (gate
   *     RecomputeAssignmentUponPreemptionTargetsOverlap)
   * @param repeatLimit how often a Workload may preempt the same one
   *     (docs/preemption.md#preemption-that-goes-on-for-ever)
   */
  record OrderingRules(
      boolean byPriority,
      boolean preemptorsFirst,
      boolean recomputesTargets,
      PreemptionLimit repeatLimit) {

    /** How often a Workload preempts the same one in an hour. */
    private static final PreemptionLimit REPEAT_LIMIT = new PreemptionLimit(3, Duration.ofHours(1));

    /** The defaults of the gates. */
    public static final OrderingRules DEFAULT = new OrderingRules(true, false, true);

    /** What gates say. */
    public OrderingRules(boolean byPriority, boolean preemptorsFirst, boolean recomputesTargets) {
      this(byPriority, preemptorsFirst, recomputesTargets, REPEAT_LIMIT);
    }

    /** The same with another limit. */
    public OrderingRules withRepeats(PreemptionLimit otherLimit) {
      return new OrderingRules(byPriority, preemptorsFirst, recomputesTargets, otherLimit);
    }

    private static final Comparator<NominatedWorkload> BY_AGE =
        Comparator.<NominatedWorkload>comparingLong(entry -> entry.item().queuedAtMicros())
            .thenComparing(entry -> entry.item().id().uid());

    /** By priority, unless a gate forbids it, and by age; the UID breaks ties. */
    Comparator<NominatedWorkload> byPriorityAndAge() {
      return byPriority
          ? (one, two) -> QueuedWorkload.BY_PRIORITY_AND_AGE.compare(one.item(), two.item())
          : BY_AGE;
    }

    /** Preemptors before all others, if a gate asks for it. */
    Comparator<NominatedWorkload> byPreemption() {
      return preemptorsFirst
          ? Comparator.comparing(entry -> !entry.queue().pending().isPreemptor(entry.item()))
          : (_, _) -> 0;
    }
  }

  /**
   * Returns the nominated Workloads in order. Each one is selected only when it is requested, so
   * that the usage of the ones before it counts.
   */
  Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated);
}
