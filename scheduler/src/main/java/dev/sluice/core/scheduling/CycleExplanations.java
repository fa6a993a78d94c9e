package dev.sluice.core.scheduling;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.CycleStatistics.TimedRule;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The explanations that a cycle gives to heads that it doesn't admit. */
public final class CycleExplanations {

  /** The annotation that limits the number of Workloads with quota. */
  public static final String WORKLOAD_LIMIT = "sluice.dev/max-concurrent-workloads";

  static final Explanation WAITS_FOR_PREEMPTION =
      new Explanation(
          PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS,
          List.of(),
          "it waits until the workloads that are preempted for it have stopped");

  static final Explanation WAITS_FOR_PODS =
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

  private static final String NO_SUFFICIENT_TARGETS =
      "preemption does not help: no workload that it may preempt would free enough";

  private static final String NO_TARGETS_FOR_ALL =
      "preemption does not help: no workloads that it may preempt would free everything it needs at"
          + " once";

  private static final String NOT_EVICTABLE_LEFT_OUT =
      " (not counted: workloads of kinds that are not managed here, whose pods nobody would stop)";

  private static final String PROTECTED_LEFT_OUT =
      " (not counted: workloads that sluice.dev/min-run-time or sluice.dev/max-preemptions"
          + " protects, the first of them until %s)";

  private static final String REPEATED_LEFT_OUT =
      " (not counted: workloads that it preempted again and again, the first of them until %s)";

  private static final String DELAYED =
      "it waits for quota to become free, and may preempt from %s on (sluice.dev/preemption-delay)";

  private static final String GATE_CLOSED =
      "preemption would make room for it, but a preemption gate of the workload is closed";

  private static final String PREEMPTION_OFF = "preemption is off in this ClusterQueue";

  private static final String NO_PREEMPTION =
      "the preemption policies of this ClusterQueue don't cover what is missing";

  private CycleExplanations() {}

  /** Why a queue admits nothing: pods are not ready, or a limit on Workloads is reached. */
  static Explanation queueBlocked(ClusterQueueCache queue) {
    if (queue.waitsForPods()) {
      return QUEUE_WAITS_FOR_PODS;
    }
    QuotaNode node = Objects.requireNonNull(queue.node().atWorkloadLimit());
    return new Explanation(
        PendingReason.WAITING_FOR_QUOTA,
        List.of(),
        (node == queue.node() ? "ClusterQueue " : "Cohort ")
            + node.name()
            + " has as many workloads with quota as "
            + WORKLOAD_LIMIT
            + " allows: "
            + node.workloads());
  }

  /** Why a head waits that needs preemption while one of its preemption gates is closed. */
  static Explanation preemptionGated(NominatedWorkload entry) {
    return new Explanation(
        PendingReason.WAITING_FOR_QUOTA, entry.assignment().attempts(), GATE_CLOSED, true);
  }

  /**
   * Why a head doesn't fit.
   *
   * @param obstacles what kept it from finding targets, beside the policies
   */
  static Explanation noFit(NominatedWorkload entry, PreemptionObstacles obstacles) {
    Assignment minimum = entry.minimumAssignment();
    PendingReason reason = minimum.noFit();
    return new Explanation(
        reason != null
            ? reason
            : !minimum.places().lacking()
                ? PendingReason.WAITING_FOR_QUOTA
                : minimum.places().areCrowded()
                    ? PendingReason.TOPOLOGY_SPREAD_CONSTRAINT_NOT_MET
                    : PendingReason.TOPOLOGY_PLACEMENT_FAILED,
        minimum.attempts(),
        detail(entry, obstacles));
  }

  private static String detail(NominatedWorkload entry, PreemptionObstacles obstacles) {
    Assignment minimum = entry.minimumAssignment();
    String preemption = preemption(minimum, entry.queue(), obstacles);
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

  private static String preemption(
      Assignment assignment, ClusterQueueCache queue, PreemptionObstacles obstacles) {
    if (!queue.mayPreempt()) {
      return mayNeverFit(assignment) || assignment.places().lacking() ? "" : PREEMPTION_OFF;
    }
    if (!assignment.needsPreemption()) {
      return "";
    }
    if (obstacles.delayedUntil().isPresent()) {
      return DELAYED.formatted(obstacles.delayedUntil().get());
    }
    return (hasTargetsForAny(assignment) ? NO_TARGETS_FOR_ALL : NO_SUFFICIENT_TARGETS)
        + (obstacles.notEvictable() ? NOT_EVICTABLE_LEFT_OUT : "")
        + obstacles
            .firstTargetAt()
            .map((onlyRepeated(obstacles) ? REPEATED_LEFT_OUT : PROTECTED_LEFT_OUT)::formatted)
            .orElse("");
  }

  private static boolean onlyRepeated(PreemptionObstacles obstacles) {
    return obstacles.rules().equals(Set.of(TimedRule.REPEATED_PREEMPTION));
  }

  private static boolean hasTargetsForAny(Assignment assignment) {
    for (FlavorAttempt attempt : assignment.attempts()) {
      if (attempt.mode() == AssignmentMode.PREEMPT || attempt.mode() == AssignmentMode.RECLAIM) {
        return true;
      }
    }
    return false;
  }
}
