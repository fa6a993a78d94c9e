package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.status.Variants;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Merge patches of a Workload's status, for what jobs report of themselves. */
public final class WorkloadStatuses {

  /** The reason of evictions for a reservation or a window. */
  public static final String EVICTED_FOR_RESERVATION = ReservedCapacity.REASON;

  /** The reason of evictions by a Budget that drains. */
  public static final String EVICTED_BY_BUDGET = "BudgetExhausted";

  /** The reasons of evictions after which a Workload is queued again at once. */
  public static final Set<String> REQUEUED_AT_ONCE =
      Set.of(
          "Preempted",
          "NodeFailures",
          EVICTED_FOR_RESERVATION,
          EVICTED_BY_BUDGET,
          Variants.EVICTED,
          Variants.LOST);

  /** How long the first writes of a new Workload may take; its creation is told in seconds. */
  private static final Duration FIRST_WRITES = Duration.ofMillis(1500);

  private WorkloadStatuses() {}

  /** Whether a Workload is kept out of the queue because its job would not run. */
  public static boolean isOnHold(CachedWorkload workload) {
    return workload
        .status()
        .condition("QuotaReserved")
        .filter(it -> it.status().equals("False") && it.reason().equals(StatusPatch.ON_HOLD))
        .isPresent();
  }

  /**
   * Whether a Workload whose job would not run is told so: it isn't yet, and nobody else says why
   * it has no quota. Of one that is deactivated and has none the reason is {@code Deactivated},
   * which comes first (docs/workload-semantics.md#reasons-for-waiting).
   */
  public static boolean takesHold(CachedWorkload workload) {
    return !isOnHold(workload) && (workload.spec().active() || workload.quotaReserved());
  }

  /** Why a Workload has no quota from now on whose job would not run: deactivated comes first. */
  public static String reasonToHold(CachedWorkload workload) {
    return workload.spec().active() ? StatusPatch.ON_HOLD : Evictions.DEACTIVATED;
  }

  /** Finished, for good. */
  public static ObjectNode finished(
      CachedWorkload workload, String reason, String message, Instant now) {
    return StatusPatch.of(workload, now).condition("Finished", true, reason, message).build();
  }

  /**
   * The job has stopped after an eviction: its quota goes back (second phase of the protocol).
   *
   * @param requeued whether it is queued again at once
   * @param readiness whether somebody waits for its pods to be ready
   */
  public static ObjectNode reservationDropped(
      CachedWorkload workload,
      Condition evicted,
      boolean requeued,
      boolean readiness,
      Instant now) {
    StatusPatch patch = Evictions.released(workload, evicted, requeued, now);
    return (readiness ? PodsReady.initial(patch) : patch).build();
  }

  /**
   * The same for a job that was deleted to stop it, a pod: its Workload is finished in the same
   * write, so that it is not admitted again for a job that is gone.
   *
   * @param workload has the condition Evicted
   * @param requeues whether {@code Requeued} is True for the reasons for which it is True for other
   *     jobs; else it is False
   */
  public static ObjectNode reservationDroppedForGood(
      CachedWorkload workload, boolean requeues, Instant now) {
    Condition evicted = workload.status().condition("Evicted").orElseThrow();
    boolean requeued = requeues && REQUEUED_AT_ONCE.contains(evicted.reason());
    return Evictions.released(workload, evicted, requeued, now)
        .condition(
            "Finished",
            true,
            KueueConstants.OWNER_NOT_FOUND,
            "The owner of the workload was deleted to evict it")
        .build();
  }

  /**
   * Whether the pods are ready; empty when that is written already. Of a job that is not admitted
   * nothing is written just for that: it is said together with why it waits.
   */
  public static ObjectNode podsReady(CachedWorkload workload, boolean ready, Instant now) {
    StatusPatch patch = StatusPatch.of(workload, now);
    if (workload.admitted()) {
      PodsReady.synced(patch, ready);
    } else if (patch.current(PodsReady.TYPE).isPresent()) {
      PodsReady.initial(patch);
    }
    return patch.build();
  }

  /**
   * The write of the condition PodsReady of a Workload of pods that waits and has none, or the time
   * until it is due: most Workloads get it together with why they wait, or with their quota, in one
   * write less. Empty if the Workload has the condition or is admitted.
   */
  public static List<JobAction> podsWait(CachedWorkload workload, Instant now) {
    if (workload.admitted() || workload.status().condition(PodsReady.TYPE).isPresent()) {
      return List.of();
    }
    Duration left = Duration.between(now, workload.createdAt().plus(FIRST_WRITES));
    return List.of(
        left.isPositive()
            ? new JobAction.Requeue(left)
            : new JobAction.PatchStatus(
                workload,
                PodsReady.initial(StatusPatch.of(workload, now)).build(),
                "podsReady=false"));
  }

  /**
   * The pods that need no quota any more while it is held: of no pod set fewer than are written
   * already, because others may have their quota. None of a Workload that a worker cluster has sent
   * back: its next copy begins with all pods, and the job or its pods here keep the states that
   * they had in the copies before.
   *
   * @return the write; empty if no more pods are done than are written
   */
  public static Optional<ObjectNode> reclaimable(
      CachedWorkload workload, Map<String, Integer> pods) {
    Map<String, Integer> most = new HashMap<>(workload.status().reclaimablePods());
    boolean more =
        pods.entrySet().stream()
            .anyMatch(each -> each.getValue() > most.getOrDefault(each.getKey(), 0));
    if (!more || Evictions.lastCluster(workload).isPresent()) {
      return Optional.empty();
    }
    pods.forEach((podSet, count) -> most.merge(podSet, count, Math::max));
    return Optional.of(reclaimable(most));
  }

  /**
   * All pods need quota again. This is written before the pod sets of a Workload without quota are
   * changed: what was counted of the old ones would be missing from the new ones.
   */
  public static JobAction.PatchStatus withoutReclaimable(CachedWorkload workload) {
    return new JobAction.PatchStatus(workload, reclaimable(Map.of()), "requests all pods again");
  }

  /** How long the job ran before the present admission of its Workload. */
  static ObjectNode executionTime(long seconds) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    StatusPatch.putExecutionTime(status, seconds);
    return status;
  }

  /** The pods that need no quota any more. */
  public static ObjectNode reclaimable(Map<String, Integer> pods) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode list = status.putArray("reclaimablePods");
    new TreeMap<>(pods)
        .forEach((podSet, count) -> list.addObject().put("name", podSet).put("count", count));
    return status;
  }
}
