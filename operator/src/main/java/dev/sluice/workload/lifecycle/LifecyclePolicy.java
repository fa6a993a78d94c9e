package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.workload.lifecycle.LifecycleAction.Deactivate;
import dev.sluice.workload.lifecycle.LifecycleAction.Delete;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.LifecycleAction.RemoveFinalizer;
import dev.sluice.workload.lifecycle.LifecycleOptions.Eviction;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.Gate;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PreemptionGates;
import dev.sluice.workload.status.StatusPatch;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Decides what happens to a Workload besides admission: a pure function, which checks the rules in
 * the order of docs/workload-semantics.md#order-of-reconciliation. It returns at most one write;
 * the next write is decided when the watch reports the changed Workload.
 */
public final class LifecyclePolicy {

  private static final String TARGET = "DeactivationTarget";
  private static final String SLICE_REPLACED = "WorkloadSliceReplaced";
  private static final String DUE_TO_TIME =
      Evictions.conditionReason(Evictions.DEACTIVATED, ReservedWorkloadPolicy.TIME_EXCEEDED);

  private LifecyclePolicy() {}

  /**
   * Decides about a Workload.
   *
   * @param queueLookup the state of the Workload's queues
   * @param now the current time
   */
  public static LifecycleAction decide(
      CachedWorkload workload, QueueLookup queueLookup, LifecycleOptions options, Instant now) {
    if (isOrphan(workload, options)) {
      return orphan(workload, options, now);
    }
    if (workload.deleting() || workload.finished()) {
      return retention(workload, options, now);
    }
    Optional<List<Gate>> gates =
        options.preemptionGates() ? PreemptionGates.synced(workload, now) : Optional.empty();
    if (gates.isPresent()) {
      return gates(gates.get());
    }
    if (!workload.spec().active()) {
      return inactive(workload, options.evictionOf(workload), now);
    }
    Optional<Condition> target = deactivationTarget(workload);
    if (target.isPresent() && options.evictionOf(workload) != Eviction.IMPOSSIBLE) {
      return LifecycleAction.of(new Deactivate("deactivated, reason=" + target.get().reason()));
    }
    return workload.quotaReserved()
        ? ReservedWorkloadPolicy.decide(workload, queueLookup, options, now)
        : PendingWorkloadPolicy.decide(workload, queueLookup, options, now);
  }

  /**
   * Whether a slice of an elastic job was replaced by another Workload: that is admitted, names the
   * slice, and belongs to the same owner and LocalQueue (docs/elastic-jobs.md#slices-of-others).
   */
  static boolean isReplaced(CachedWorkload slice, CachedWorkload other, LifecycleOptions options) {
    return slice.elastic()
        && other.elastic()
        && !slice.deleting()
        && !slice.finished()
        && other.replacedSlice().equals(slice.id().name())
        && !other.id().equals(slice.id())
        && other.id().namespace().equals(slice.id().namespace())
        && other.spec().queueName().equals(slice.spec().queueName())
        && ownerOf(other).equals(ownerOf(slice))
        && other.admitted()
        && !other.evicted()
        && !other.finished()
        && options.ownerlessSlices().test(slice);
  }

  private static String ownerOf(CachedWorkload workload) {
    return workload.owner().map(CachedWorkload.Owner::uid).orElse("");
  }

  /** Finishes a slice that another one has replaced. */
  static LifecycleAction replaced(CachedWorkload slice, CachedWorkload other, Instant now) {
    String message = "Slice " + other.id().name() + " took its place";
    return action(
        StatusPatch.of(slice, now).condition("Finished", true, SLICE_REPLACED, message),
        "finished, reason=" + SLICE_REPLACED,
        List.of(new EventSpec(false, SLICE_REPLACED, message)));
  }

  /** Writes the states of the gates that the spec names; new gates are closed. */
  private static LifecycleAction gates(List<Gate> gates) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("preemptionGates", PreemptionGates.json(gates));
    return LifecycleAction.of(
        new PatchStatus(status, "preemption gates=" + gates.size(), List.<EventSpec>of()));
  }

  /**
   * Whether the Workload has no owner, and is either being deleted or was made for a job (which has
   * been deleted since).
   */
  private static boolean isOrphan(CachedWorkload workload, LifecycleOptions options) {
    return !workload.owned()
        && (workload.deleting()
            || (options.finishOrphans() && workload.labels().containsKey(KueueConstants.JOB_UID)));
  }

  /** Deletes a finished Workload when its retention time is over. */
  private static LifecycleAction retention(
      CachedWorkload workload, LifecycleOptions options, Instant now) {
    Optional<Instant> end =
        options
            .afterFinished()
            .filter(kept -> !workload.deleting())
            .flatMap(
                kept ->
                    workload
                        .status()
                        .condition("Finished")
                        .map(finished -> finished.lastTransitionTime().plus(kept)));
    if (end.isEmpty()) {
      return LifecycleAction.NOTHING;
    }
    return now.isBefore(end.get())
        ? new LifecycleAction(Optional.empty(), end)
        : LifecycleAction.of(
            new Delete(
                "deleted, reason=retention",
                List.of(
                    new EventSpec(
                        false,
                        "Deleted",
                        "Deleted "
                            + options.afterFinished().orElseThrow().toSeconds()
                            + "s after it finished, as configured"))));
  }

  private static LifecycleAction orphan(
      CachedWorkload workload, LifecycleOptions options, Instant now) {
    if (!workload.finished()) {
      ObjectNode status =
          StatusPatch.of(workload, now)
              .condition(
                  "Finished",
                  true,
                  KueueConstants.OWNER_NOT_FOUND,
                  "The workload has no owner any more")
              .build();
      return LifecycleAction.of(
          new PatchStatus(status, "finished, reason=OwnerNotFound", List.<EventSpec>of()));
    }
    return workload.finalized()
        ? LifecycleAction.of(new RemoveFinalizer("released, reason=OwnerNotFound"))
        : retention(workload, options, now);
  }

  private static Optional<Condition> deactivationTarget(CachedWorkload workload) {
    return workload.status().trueCondition(TARGET);
  }

  /**
   * Evicts a Workload that was deactivated, unless it was evicted for that already and nobody asked
   * for it again, and removes the requeue backoff and the deactivation target. The condition
   * Evicted stays True until the next reservation, so that it may be that of an earlier
   * deactivation.
   */
  private static LifecycleAction inactive(CachedWorkload workload, Eviction eviction, Instant now) {
    if (eviction == Eviction.IMPOSSIBLE) {
      return LifecycleAction.NOTHING;
    }
    StatusPatch patch = StatusPatch.of(workload, now);
    Optional<Condition> target = deactivationTarget(workload);
    boolean evicts = target.isPresent() || !isDeactivated(workload, "Evicted");
    String cause = target.map(Condition::reason).orElse("");
    String message =
        target
            .map(found -> "The workload is deactivated due to: " + found.message())
            .orElse("The workload is deactivated");
    if (evicts) {
      Evictions.evict(patch, workload, now, Evictions.DEACTIVATED, cause, message);
    }
    if (!workload.quotaReserved() && !evicts) {
      AdmissionCheckPolicy.restarted(patch, workload, Optional.empty(), now);
    }
    if (!workload.quotaReserved() || eviction == Eviction.AT_ONCE) {
      patch.dropReservation(
          Evictions.DEACTIVATED,
          evicts ? message : reasonToStay(workload).orElse("The workload is deactivated"));
    }
    patch.withoutRequeueState().without(TARGET);
    return action(
        patch,
        evicts ? evicted(Evictions.DEACTIVATED, cause) : "kept out, reason=Deactivated",
        evicts ? evictionEvent(workload, Evictions.DEACTIVATED, cause, message) : List.of());
  }

  /** The message of the eviction; empty without an eviction. */
  private static Optional<String> reasonToStay(CachedWorkload workload) {
    return workload.status().condition("Evicted").map(Condition::message);
  }

  /** Whether a condition is True because the Workload was deactivated. */
  private static boolean isDeactivated(CachedWorkload workload, String type) {
    return workload
        .status()
        .trueCondition(type)
        .filter(condition -> condition.reason().startsWith(Evictions.DEACTIVATED))
        .isPresent();
  }

  /** Whether the Workload was deactivated because it exceeded its maximum execution time. */
  static boolean isDueToTime(String reason) {
    return reason.equals(DUE_TO_TIME);
  }

  static String evicted(String reason, String cause) {
    return "evicted, reason=" + Evictions.conditionReason(reason, cause);
  }

  /** The event for an eviction; none if the Workload had no quota reserved. */
  static List<EventSpec> evictionEvent(
      CachedWorkload workload, String reason, String cause, String message) {
    return workload.status().admission().isEmpty()
        ? List.of()
        : List.of(
            new EventSpec(
                false, "EvictedDueTo" + Evictions.conditionReason(reason, cause), message));
  }

  static LifecycleAction action(StatusPatch patch, String change, List<EventSpec> eventSpec) {
    return patch.isEmpty()
        ? LifecycleAction.NOTHING
        : LifecycleAction.of(new PatchStatus(patch.build(), change, eventSpec));
  }
}
