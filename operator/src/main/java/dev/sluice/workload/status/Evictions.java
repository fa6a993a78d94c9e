package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * The first phase of an eviction (docs/workload-semantics.md#eviction): the decision is written to
 * the status; the quota stays reserved until the job has stopped.
 */
public final class Evictions {

  /** The reason of evictions of deactivated Workloads. */
  public static final String DEACTIVATED = "Deactivated";

  private Evictions() {}

  /**
   * Adds an eviction to a status patch. The statistics count evictions by reason and cause; for a
   * deactivated Workload the condition's reason (see {@link #conditionReason}) combines both.
   *
   * @param patch the patch of {@code workload}; may contain other changes
   * @param reason such as Preempted or ClusterQueueStopped
   * @param underlyingCause the cause behind the reason; empty if the reason is sufficient
   * @param message one sentence for users
   */
  public static StatusPatch evict(
      StatusPatch patch,
      CachedWorkload workload,
      Instant now,
      String reason,
      String underlyingCause,
      String message) {
    String conditionReason = conditionReason(reason, underlyingCause);
    patch.condition("Evicted", true, conditionReason, message);
    if (workload.status().isTrue(PreemptionGates.BLOCKED)) {
      patch.condition(PreemptionGates.BLOCKED, false, conditionReason, message);
    }
    resetPlacement(patch, workload, now);
    countEviction(patch.fields(), workload, reason, underlyingCause);
    return patch;
  }

  /**
   * Adds the end of a reservation to a status patch: gates are closed, admission checks start
   * again, assigned clusters and nodes are removed.
   */
  public static void resetPlacement(StatusPatch patch, CachedWorkload workload, Instant now) {
    ObjectNode status = patch.fields();
    PreemptionGates.closed(workload, now)
        .ifPresent(gates -> status.set("preemptionGates", PreemptionGates.json(gates)));
    status.putNull("clusterName").putNull("nominatedClusterNames").putNull("unhealthyNodes");
    resetChecks(status, workload, now);
  }

  /** The reason of the condition Evicted, such as DeactivatedDueToMaximumExecutionTimeExceeded. */
  public static String conditionReason(String reason, String underlyingCause) {
    return reason.equals(DEACTIVATED) && !underlyingCause.isEmpty()
        ? reason + "DueTo" + underlyingCause
        : reason;
  }

  private static void resetChecks(ObjectNode status, CachedWorkload workload, Instant now) {
    List<CheckState> checks = workload.status().admissionChecks();
    if (!checks.stream().allMatch(check -> check.is(CheckState.PENDING))) {
      status.set(
          "admissionChecks",
          CheckStates.json(checks.stream().map(check -> reset(check, now)).toList()));
    }
  }

  private static CheckState reset(CheckState check, Instant now) {
    if (check.is(CheckState.PENDING)) {
      return check;
    }
    return new CheckState(
        check.name(),
        CheckState.PENDING,
        "Reset to Pending after eviction. Previously: " + check.state(),
        now.truncatedTo(ChronoUnit.SECONDS),
        check.requeueAfterSeconds(),
        check.is(CheckState.RETRY) ? Math.max(0, check.retryCount()) + 1 : -1,
        List.of());
  }

  private static void countEviction(
      ObjectNode status, CachedWorkload workload, String reason, String underlyingCause) {
    ArrayNode evictions = status.putObject("schedulingStats").putArray("evictions");
    boolean counted = false;
    for (EvictionCount old : workload.status().history().evictions()) {
      boolean same = old.reason().equals(reason) && old.underlyingCause().equals(underlyingCause);
      counted |= same;
      add(evictions, old.reason(), old.underlyingCause(), old.count() + (same ? 1 : 0));
    }
    if (!counted) {
      add(evictions, reason, underlyingCause, 1);
    }
  }

  private static void add(ArrayNode evictions, String reason, String cause, int count) {
    evictions.addObject().put("reason", reason).put("underlyingCause", cause).put("count", count);
  }
}
