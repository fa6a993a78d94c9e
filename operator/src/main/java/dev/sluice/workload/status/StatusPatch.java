package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Builds the merge patch of a Workload's status. A merge patch replaces lists whole, so all
 * conditions are sent, those that don't change as they were. What would change nothing is left out.
 */
public final class StatusPatch {

  /** The reason of a Workload that has no quota because its job would not run. */
  public static final String ON_HOLD = "OnHold";

  private static final int LONGEST_MESSAGE = 32768;
  private static final String ADMITTED = "Admitted";

  private final CachedWorkload workload;
  private final Instant now;
  private final Map<String, Condition> conditions = new LinkedHashMap<>();
  private final ObjectNode status = JsonNodeFactory.instance.objectNode();
  private boolean conditionsChanged;

  private StatusPatch(CachedWorkload workload, Instant now) {
    this.workload = workload;
    this.now = now.truncatedTo(ChronoUnit.SECONDS);
    for (Condition condition : workload.status().conditions()) {
      conditions.put(condition.type(), condition);
    }
  }

  /** Begins a patch of {@code workload} as it is known; transitions happen at {@code now}. */
  public static StatusPatch of(CachedWorkload workload, Instant now) {
    return new StatusPatch(workload, now);
  }

  /**
   * Sets a condition. Its transition time moves only when its status changes; nothing changes when
   * status, reason and message are what they were.
   */
  public StatusPatch condition(String type, boolean value, String reason, String message) {
    String word = value ? "True" : "False";
    String text = cut(message);
    Condition old = conditions.get(type);
    if (old != null
        && old.status().equals(word)
        && old.reason().equals(reason)
        && old.message().equals(text)) {
      return this;
    }
    boolean moves = old == null || !old.status().equals(word);
    if (moves && type.equals(ADMITTED) && !value && old != null) {
      addExecutionTime();
    }
    conditions.put(
        type,
        new Condition(
            type,
            word,
            reason,
            text,
            moves || old == null ? now : old.lastTransitionTime(),
            workload.generation()));
    conditionsChanged = true;
    return this;
  }

  private void addExecutionTime() {
    long sum = workload.executed(now).toSeconds();
    if (sum > workload.status().history().executionSeconds()) {
      putExecutionTime(status, sum);
    }
  }

  /** Sets how long a Workload ran in admissions that have ended, in a status. */
  public static void putExecutionTime(ObjectNode status, long seconds) {
    status.put("accumulatedPastExecutionTimeSeconds", (int) Math.min(Integer.MAX_VALUE, seconds));
  }

  /** Sets a condition to True as of now, even if it is True since an earlier time. */
  public StatusPatch renewed(String type, String reason, String message) {
    return without(type).condition(type, true, reason, message);
  }

  /** Sets a condition to False with {@code reason}, its old message kept, if it is True now. */
  public StatusPatch reset(String type, String reason) {
    Condition old = conditions.get(type);
    return old != null && old.status().equals("True")
        ? condition(type, false, reason, "Previously: " + old.message())
        : this;
  }

  /** Removes a condition. */
  public StatusPatch without(String type) {
    conditionsChanged |= conditions.remove(type) != null;
    return this;
  }

  /** The condition of this type as it will be. */
  public Optional<Condition> current(String type) {
    return Optional.ofNullable(conditions.get(type));
  }

  /**
   * Releases the quota: removes the admission, sets QuotaReserved=False for the given reason, and
   * derives Admitted. All pods of a Workload that was in a worker cluster need quota again, since
   * its next copy begins with all of them.
   */
  public StatusPatch dropReservation(String reason, String message) {
    if (workload.status().admission().isPresent()) {
      status.putNull("admission");
    }
    if (!workload.status().reclaimablePods().isEmpty() && wasElsewhere()) {
      status.putArray("reclaimablePods");
    }
    return condition("QuotaReserved", false, reason, message)
        .condition(ADMITTED, false, "NoReservation", "The workload has no reservation");
  }

  private boolean wasElsewhere() {
    return !workload.status().remotePlacement().cluster().isEmpty()
        || Evictions.lastCluster(workload).isPresent();
  }

  /**
   * Derives Admitted from the checks of a Workload with reserved quota.
   *
   * @param delayed whether places of its pods are not found yet
   */
  public StatusPatch admittedBy(List<CheckState> checks, boolean delayed) {
    if (!CheckStates.allReady(checks)) {
      return condition(
          ADMITTED, false, "UnsatisfiedAdmissionChecks", "Not all admission checks are ready");
    }
    return delayed
        ? condition(
            ADMITTED,
            false,
            "PendingDelayedTopologyRequests",
            "The places of its pods are not found yet")
        : condition(ADMITTED, true, ADMITTED, "The workload is admitted");
  }

  /** Removes the requeue backoff, if there is one. */
  public StatusPatch withoutRequeueState() {
    if (workload.status().requeueState().isPresent()) {
      status.putNull("requeueState");
    }
    return this;
  }

  /** The status patch, for fields other than conditions. */
  public ObjectNode fields() {
    return status;
  }

  /** Whether the patch changes nothing. */
  public boolean isEmpty() {
    return !conditionsChanged && status.isEmpty();
  }

  /** The merge patch of {@code .status}; an empty object when nothing changes. */
  public ObjectNode build() {
    ObjectNode result = status.deepCopy();
    if (conditionsChanged) {
      ArrayNode list = result.putArray("conditions");
      conditions.values().forEach(condition -> list.add(json(condition)));
    }
    return result;
  }

  private static ObjectNode json(Condition condition) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("type", condition.type());
    json.put("status", condition.status());
    if (condition.observedGeneration() > 0) {
      json.put("observedGeneration", condition.observedGeneration());
    }
    json.put("lastTransitionTime", condition.lastTransitionTime().toString());
    json.put("reason", condition.reason());
    return json.put("message", condition.message());
  }

  /** A message of a condition or an admission check, as long as the API lets it be. */
  static String cut(String message) {
    return message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE);
  }
}
