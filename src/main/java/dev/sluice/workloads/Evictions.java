package dev.sluice.workloads;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.Workload.EvictionCount;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * First phase of an eviction (contract: Workload life cycle, section 4): the decision is written
 * into the status; quota is held until the job has stopped.
 */
public final class Evictions {

  /** The reason of evictions whose Workload was deactivated. */
  public static final String DEACTIVATED = "Deactivated";

  private Evictions() {}

  /**
   * Adds an eviction to a status patch. The statistics count it by reason and cause; the reason of
   * the condition, see {@link #conditionReason}, names both where it was deactivated.
   *
   * @param patch the patch of {@code workload}; may hold more that goes out with it
   * @param reason such as Preempted or ClusterQueueStopped
   * @param underlyingCause what is behind it; empty where the reason says all
   * @param message one sentence for people
   */
  public static StatusPatch evict(
      StatusPatch patch,
      Workload workload,
      Instant now,
      String reason,
      String underlyingCause,
      String message) {
    String conditionReason = conditionReason(reason, underlyingCause);
    patch.condition("Evicted", true, conditionReason, message);
    if (workload.status().isTrue("BlockedOnPreemptionGates")) {
      patch.condition("BlockedOnPreemptionGates", false, conditionReason, message);
    }
    ObjectNode status = patch.fields();
    status.putNull("clusterName").putNull("nominatedClusterNames").putNull("unhealthyNodes");
    resetChecks(status, workload, now);
    countEviction(status, workload, reason, underlyingCause);
    return patch;
  }

  /** The reason of the condition Evicted, such as DeactivatedDueToMaximumExecutionTimeExceeded. */
  public static String conditionReason(String reason, String underlyingCause) {
    return reason.equals(DEACTIVATED) && !underlyingCause.isEmpty()
        ? reason + "DueTo" + underlyingCause
        : reason;
  }

  private static void resetChecks(ObjectNode status, Workload workload, Instant now) {
    boolean allPending =
        workload.status().admissionChecks().stream().allMatch(c -> c.state().equals("Pending"));
    if (allPending) {
      return;
    }
    ArrayNode checks = status.putArray("admissionChecks");
    for (CheckState check : workload.status().admissionChecks()) {
      boolean pending = check.state().equals("Pending");
      ObjectNode json = checks.addObject().put("name", check.name()).put("state", "Pending");
      json.put(
          "message",
          pending
              ? check.message()
              : "Reset to Pending after eviction. Previously: " + check.state());
      Instant since = pending ? check.lastTransitionTime() : now.truncatedTo(ChronoUnit.SECONDS);
      json.put("lastTransitionTime", since.toString());
      if (check.requeueAfterSeconds() >= 0) {
        json.put("requeueAfterSeconds", check.requeueAfterSeconds());
      }
      if (check.state().equals("Retry")) {
        json.put("retryCount", Math.max(0, check.retryCount()) + 1);
      } else if (pending && check.retryCount() >= 0) {
        json.put("retryCount", check.retryCount());
      }
    }
  }

  private static void countEviction(
      ObjectNode status, Workload workload, String reason, String underlyingCause) {
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
