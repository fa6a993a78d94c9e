package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Instant;
import java.util.List;

/** Writes a preemption to the status of its target, and describes it. */
public final class Preemptions {

  /** The reason of the condition Evicted of preempted Workloads. */
  public static final String PREEMPTED = "Preempted";

  private Preemptions() {}

  /** Sets Evicted and Preempted in one write: the first phase of the target's eviction. */
  public static ObjectNode evicted(
      CachedWorkload target, PreemptionReason reason, String message, Instant now) {
    StatusPatch patch = StatusPatch.of(target, now);
    Evictions.evict(patch, target, now, PREEMPTED, "", message);
    return patch.condition(PREEMPTED, true, reason.apiReason(), message).build();
  }

  /**
   * The message of a preemption: preemptor, reason and paths (docs/workload-semantics.md#events).
   *
   * @param jobUid the UID of the preemptor's job; empty when it has none
   */
  public static String message(Decision.Preempt decision, Decision.Target target, String jobUid) {
    return "Preempted to accommodate a workload (UID: "
        + decision.id().uid()
        + ", JobUID: "
        + (jobUid.isEmpty() ? "UNKNOWN" : jobUid)
        + ") due to "
        + cause(target.reason())
        + "; preemptor path: "
        + path(decision.path())
        + "; preemptee path: "
        + path(target.path())
        + "; preemptor effective priority: "
        + decision.priority()
        + "; preemptee effective priority: "
        + target.priority();
  }

  private static String cause(PreemptionReason reason) {
    return switch (reason) {
      case IN_CLUSTER_QUEUE -> "prioritization in the ClusterQueue";
      case IN_COHORT_RECLAMATION -> "reclamation within the cohort";
      case IN_COHORT_FAIR_SHARING -> "Fair Sharing within the cohort";
      case IN_COHORT_RECLAIM_WHILE_BORROWING -> "reclamation within the cohort while borrowing";
    };
  }

  private static String path(List<String> names) {
    return "/" + String.join("/", names);
  }
}
