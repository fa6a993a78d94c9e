package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The phases of an eviction (docs/workload-semantics.md#eviction): the decision is written to the
 * status; the quota stays reserved until the job has stopped.
 */
public final class Evictions {

  /** The reason of evictions of deactivated Workloads. */
  public static final String DEACTIVATED = "Deactivated";

  /**
   * The condition that remembers the last worker cluster that a Workload was sent back from; its
   * message is the cluster's name. {@code clusterName} is cleared while the job may still run
   * there.
   */
  private static final String FROM_CLUSTER = "sluice.dev/EvictedFromCluster";

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
   * The second phase: the job has stopped, and the quota goes back.
   *
   * @param evictedCondition the condition Evicted
   * @param requeued whether the Workload is queued again at once: since now, even if it was before
   *     its last admission
   */
  public static StatusPatch released(
      CachedWorkload workload, Condition evictedCondition, boolean requeued, Instant now) {
    String message = evictedCondition.message();
    StatusPatch patch =
        StatusPatch.of(workload, now)
            .dropReservation(workload.spec().active() ? "PendingEvaluation" : DEACTIVATED, message);
    return requeued
        ? patch.renewed("Requeued", evictedCondition.reason(), message)
        : patch.condition("Requeued", false, evictedCondition.reason(), message);
  }

  /**
   * Adds the end of a reservation to a status patch: gates are closed, admission checks start
   * again, assigned clusters and nodes are removed. The worker cluster is remembered.
   */
  public static void resetPlacement(StatusPatch patch, CachedWorkload workload, Instant now) {
    ObjectNode status = patch.fields();
    PreemptionGates.closed(workload, now)
        .ifPresent(gates -> status.set("preemptionGates", PreemptionGates.json(gates)));
    String cluster = workload.status().remotePlacement().cluster();
    if (!cluster.isEmpty()) {
      // its time is that of the last time
      patch.renewed(FROM_CLUSTER, "SentBack", cluster);
    }
    status.putNull("clusterName").putNull("nominatedClusterNames").putNull("unhealthyNodes");
    resetChecks(status, workload, now);
  }

  /**
   * The last worker cluster that a Workload was sent back from, as the message of a condition since
   * then; empty if it never ran in one. Its job may still run there if that cluster can't be
   * reached since.
   */
  public static Optional<Condition> lastCluster(CachedWorkload workload) {
    return workload.status().trueCondition(FROM_CLUSTER);
  }

  /** The reason of the condition Evicted, such as DeactivatedDueToMaximumExecutionTimeExceeded. */
  public static String conditionReason(String reason, String underlyingCause) {
    return reason.equals(DEACTIVATED) && !underlyingCause.isEmpty()
        ? reason + "DueTo" + underlyingCause
        : reason;
  }

  /**
   * Whether the eviction of an inactive Workload is that of its deactivation. It isn't if the
   * Workload waited for quota since: the condition Evicted stays True until the next reservation,
   * and who waits has another reason to have no quota than the deactivation.
   */
  public static boolean isForDeactivation(CachedWorkload workload) {
    return workload
            .status()
            .trueCondition("Evicted")
            .filter(evicted -> evicted.reason().startsWith(DEACTIVATED))
            .isPresent()
        && workload
            .status()
            .condition("QuotaReserved")
            .filter(reserved -> reserved.status().equals("False"))
            .filter(reserved -> !reserved.reason().equals(DEACTIVATED))
            .isEmpty();
  }

  /**
   * Adds the eviction of another Workload to a status patch: for the same reason and cause.
   *
   * @param other one that is evicted
   */
  public static StatusPatch evictLike(
      CachedWorkload other, StatusPatch patch, CachedWorkload workload, Instant now) {
    Condition evicted = other.status().condition("Evicted").orElseThrow();
    List<EvictionCount> counts = other.status().history().evictions();
    Optional<EvictionCount> latest =
        counts.isEmpty() ? Optional.empty() : Optional.of(counts.getLast());
    Optional<EvictionCount> counted =
        latest.filter(
            each ->
                conditionReason(each.reason(), each.underlyingCause()).equals(evicted.reason()));
    return evict(
        patch,
        workload,
        now,
        counted.map(EvictionCount::reason).orElse(evicted.reason()),
        counted.map(EvictionCount::underlyingCause).orElse(""),
        evicted.message());
  }

  private static void resetChecks(ObjectNode status, CachedWorkload workload, Instant now) {
    List<CheckState> checks = workload.status().admissionChecks();
    if (!checks.stream().allMatch(check -> check.is(CheckState.PENDING))) {
      status.set(
          "admissionChecks",
          CheckStates.json(checks.stream().map(check -> CheckStates.reset(check, now)).toList()));
    }
  }

  /** Adds one to the entry of the reason and cause, which becomes the last one. */
  private static void countEviction(
      ObjectNode status, CachedWorkload workload, String reason, String underlyingCause) {
    ArrayNode evictions = status.putObject("schedulingStats").putArray("evictions");
    int count = 1;
    for (EvictionCount old : workload.status().history().evictions()) {
      if (old.reason().equals(reason) && old.underlyingCause().equals(underlyingCause)) {
        count += old.count();
      } else {
        add(evictions, old.reason(), old.underlyingCause(), old.count());
      }
    }
    add(evictions, reason, underlyingCause, count);
  }

  private static void add(ArrayNode evictions, String reason, String cause, int count) {
    evictions.addObject().put("reason", reason).put("underlyingCause", cause).put("count", count);
  }
}
