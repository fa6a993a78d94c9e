package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.QueueAnnotations.PriorityAging;
import dev.sluice.workload.lifecycle.LifecycleAction.Annotate;
import dev.sluice.workload.lifecycle.LifecycleAction.Deactivate;
import dev.sluice.workload.lifecycle.LifecycleAction.Delete;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.LifecycleAction.RemoveFinalizer;
import dev.sluice.workload.lifecycle.LifecycleOptions.Eviction;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.Gate;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.PreemptionGates;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

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
    boolean evicts = target.isPresent() || !Evictions.isForDeactivation(workload);
    String cause = target.map(Condition::reason).orElse("");
    String message =
        target
            .map(found -> "The workload is deactivated due to: " + found.message())
            .orElse("The workload is deactivated");
    if (evicts) {
      if (!workload.quotaReserved()) {
        // since now: no job is stopping for the eviction before
        patch.without("Evicted");
      }
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

  /**
   * Decides about an active Workload without quota: requeues it when the reason that kept it out of
   * the queue is over, keeps it out while an admission gate is set, and writes the reason
   * (docs/workload-semantics.md#reasons-for-waiting, steps 7 to 11).
   */
  private static final class PendingWorkloadPolicy {

    /** How long the list of checks of a new Workload isn't written for itself. */
    static final Duration NEW = Duration.ofSeconds(5);

    private static final String ADMISSION_GATED = "AdmissionGated";
    private static final String MISCONFIGURED = "Misconfigured";
    private static final String DEVICES_UNRESOLVED = "DRAResourcesUnresolved";
    private static final String SUSPENDED = "Suspended";
    private static final Set<String> ENDED_BY_BACK_OFF =
        Set.of("PodsReadyTimeout", "AdmissionCheck");

    private final CachedWorkload workload;
    private final QueueLookup queueLookup;
    private final LifecycleOptions options;
    private final Instant now;
    private final StatusPatch patch;
    private final List<EventSpec> eventSpec = new ArrayList<>();

    private PendingWorkloadPolicy(
        CachedWorkload workload, QueueLookup queueLookup, LifecycleOptions options, Instant now) {
      this.workload = workload;
      this.queueLookup = queueLookup;
      this.options = options;
      this.now = now;
      this.patch = StatusPatch.of(workload, now);
    }

    static LifecycleAction decide(
        CachedWorkload workload, QueueLookup queueLookup, LifecycleOptions options, Instant now) {
      return new PendingWorkloadPolicy(workload, queueLookup, options, now).decide();
    }

    private LifecycleAction decide() {
      Optional<LifecycleAction> rejected =
          AdmissionCheckPolicy.rejectedWithoutQuota(workload, queueLookup, now);
      // What was decided before it was deactivated doesn't count for the next try.
      if (rejected.isPresent() && !isReactivated()) {
        return rejected.get();
      }
      Optional<Instant> backOff = AdmissionCheckPolicy.backOff(patch, workload, now);
      boolean backsOff = backOff.filter(until -> until.isAfter(now)).isPresent();
      if (backOff.isPresent() && !backsOff) {
        endBackOff();
      }
      reactivate(backsOff);
      explainExclusion();
      boolean listAlone = patch.isEmpty() && !workload.admitted();
      AdmissionCheckPolicy.restarted(
          patch, workload, isGated() ? Optional.empty() : queueLookup.checks(), now);
      if (listAlone && !patch.isEmpty() && isNew()) {
        return new LifecycleAction(Optional.empty(), Optional.of(workload.createdAt().plus(NEW)));
      }
      if (workload.admitted()) {
        patch.dropReservation(reason().orElse("PendingEvaluation"), message());
      }
      boolean awaitsPods = options.podsReady().isPresent() || queueLookup.startRules().awaitPods();
      if (awaitsPods && workload.owned() && !patch.isEmpty()) {
        PodsReady.initial(patch);
      }
      LifecycleAction lifecycleAction = LifecyclePolicy.action(patch, change(), eventSpec);
      return new LifecycleAction(lifecycleAction.action(), backsOff ? backOff : Optional.empty())
          .or(
              () ->
                  queueLookup
                      .startRules()
                      .aging()
                      .map(aging -> AgingPolicy.decide(workload, aging, competes(), now))
                      .orElse(LifecycleAction.NOTHING));
    }

    /**
     * Whether nothing of its own keeps the Workload out of the queue: its owner decides about
     * gates, hold, queue name and devices, and gains no priority by them. Requeued=False is what an
     * eviction left behind, such as a back-off, and a queue that is stopped holds all of its
     * Workloads.
     */
    private boolean competes() {
      return !isGated()
          && reason().filter(StatusPatch.ON_HOLD::equals).isEmpty()
          && falseReason("Requeued").isEmpty()
          && !workload.spec().queueName().isEmpty()
          && queueLookup.unresolvedDevices().isEmpty();
    }

    /**
     * Whether the Workload may get quota at any moment for the first time: that write sets its
     * checks, and a write of the list before would collide with it. Nobody serves a check without
     * quota.
     */
    private boolean isNew() {
      Duration age = Duration.between(workload.createdAt(), now);
      return workload.status().conditions().isEmpty()
          && workload.status().admissionChecks().isEmpty()
          && age.compareTo(NEW) < 0
          && age.compareTo(NEW.negated()) > 0;
    }

    /** Whether its deactivation is over, and that isn't written yet. */
    private boolean isReactivated() {
      return falseReason("Requeued").startsWith(Evictions.DEACTIVATED)
          || falseReason("QuotaReserved").equals(Evictions.DEACTIVATED);
    }

    private void endBackOff() {
      if (workload.status().requeueState().filter(state -> state.count() > 0).isPresent()) {
        patch.fields().putObject("requeueState").putNull("requeueAt");
      } else {
        patch.withoutRequeueState();
      }
    }

    /** Requeues the Workload if the reason of Requeued=False doesn't hold any more. */
    private void reactivate(boolean backsOff) {
      String keptOut = falseReason("Requeued");
      if (keptOut.startsWith(Evictions.DEACTIVATED)) {
        requeue("Reactivated", "The workload was reactivated");
        if (LifecyclePolicy.isDueToTime(keptOut)
            && workload.status().history().executionSeconds() > 0) {
          patch.fields().putNull("accumulatedPastExecutionTimeSeconds");
        }
      } else if (ENDED_BY_BACK_OFF.contains(keptOut) && !backsOff) {
        requeue("BackoffFinished", "The back-off after its eviction is over");
      } else if (keptOut.equals("LocalQueueStopped") && queueLookup.local() == QueueState.OPEN) {
        requeue("LocalQueueRestarted", "The LocalQueue was restarted");
      } else if (keptOut.equals("ClusterQueueStopped")
          && queueLookup.cluster() == QueueState.OPEN) {
        requeue("ClusterQueueRestarted", "The ClusterQueue was restarted");
      } else if (keptOut.equals(DEVICES_UNRESOLVED) && queueLookup.unresolvedDevices().isEmpty()) {
        requeue("DRAResourcesResolved", "The devices of the workload can be counted");
      }
    }

    private void requeue(String reason, String message) {
      patch.condition("Requeued", true, reason, message);
      if (reason().filter(SUSPENDED::equals).isPresent()) {
        evaluateAnew();
      }
    }

    /**
     * Writes reasons for waiting that the engine doesn't know: admission gates, no queue name,
     * devices that can't be counted yet, and what a gated Workload, which the engine doesn't have,
     * waits for besides. The engine reports all other reasons.
     */
    private void explainExclusion() {
      String gates = gates();
      String known = reason().orElse("");
      if (known.equals(StatusPatch.ON_HOLD)) {
        return;
      }
      if (workload.spec().queueName().isEmpty()) {
        patch.dropReservation(MISCONFIGURED, "The workload names no LocalQueue");
      } else if (!gates.isEmpty()) {
        explainGates(gates, known);
      } else if (queueLookup.unresolvedDevices().isPresent()) {
        explainDevices(queueLookup.unresolvedDevices().get());
      } else if (known.equals(DEVICES_UNRESOLVED)) {
        evaluateAnew();
      } else if (known.equals(ADMISSION_GATED)) {
        evaluateAnew();
        eventSpec.add(new EventSpec(false, "AdmissionGateCleared", "No admission gate is left"));
      } else if (known.equals(Evictions.DEACTIVATED)
          || (options.explicitStatus() && patch.current("QuotaReserved").isEmpty())) {
        evaluateAnew();
      }
    }

    /** What keeps a Workload out of the queue already, such as a back-off, stays. */
    private void explainDevices(String message) {
      patch.dropReservation(DEVICES_UNRESOLVED, message);
      if (falseReason("Requeued").isEmpty()) {
        patch.condition("Requeued", false, DEVICES_UNRESOLVED, message);
      }
    }

    /** The state of the queues comes before the gates. */
    private void explainGates(String gates, String known) {
      String local = "LocalQueue " + workload.spec().queueName();
      if (queueLookup.local() == QueueState.MISSING) {
        patch.dropReservation(MISCONFIGURED, local + " doesn't exist");
      } else if (queueLookup.local().stopped()) {
        patch.dropReservation(SUSPENDED, local + " is stopped");
      } else if (queueLookup.cluster() == QueueState.MISSING) {
        patch.dropReservation(MISCONFIGURED, "The ClusterQueue of " + local + " doesn't exist");
      } else if (queueLookup.cluster() != QueueState.OPEN) {
        patch.dropReservation(SUSPENDED, "The ClusterQueue of " + local + " is inactive");
      } else {
        String message = "Admission is gated by: " + gates;
        patch.dropReservation(ADMISSION_GATED, message);
        if (!known.equals(ADMISSION_GATED)) {
          eventSpec.add(new EventSpec(false, ADMISSION_GATED, message));
        }
      }
    }

    private String gates() {
      return options.admissionGates()
          ? workload.annotations().getOrDefault(KueueConstants.ADMISSION_GATED_BY, "").strip()
          : "";
    }

    /** Whether an admission gate is set; the admission checks are not changed meanwhile. */
    private boolean isGated() {
      return !gates().isEmpty();
    }

    private void evaluateAnew() {
      patch.dropReservation("PendingEvaluation", "The workload waits for its turn");
    }

    private Optional<String> reason() {
      return patch
          .current("QuotaReserved")
          .filter(condition -> condition.status().equals("False"))
          .map(Condition::reason);
    }

    private String message() {
      return patch
          .current("QuotaReserved")
          .map(Condition::message)
          .orElse("The workload waits for its turn");
    }

    private String falseReason(String type) {
      return workload
          .status()
          .condition(type)
          .filter(condition -> condition.status().equals("False"))
          .map(Condition::reason)
          .orElse("");
    }

    private String change() {
      String requeued =
          patch
              .current("Requeued")
              .filter(condition -> condition.status().equals("True"))
              .filter(condition -> !workload.status().isTrue("Requeued"))
              .map(condition -> "requeued, reason=" + condition.reason())
              .orElse("");
      return requeued.isEmpty()
          ? "waits, reason=" + reason().orElse("PendingEvaluation")
          : requeued;
    }
  }

  /**
   * The priority of a Workload that waits grows (docs/queueing-policies.md#ageing). What was added
   * is its priority boost; a boost of somebody else stays as it is.
   */
  static final class AgingPolicy {

    private AgingPolicy() {}

    /**
     * The next step of a Workload without quota, or the time of it.
     *
     * @param competes whether it is in the queue as far as its own fields say; one that isn't has
     *     no boost
     */
    static LifecycleAction decide(
        CachedWorkload workload, PriorityAging aging, boolean competes, Instant now) {
      String boost = workload.annotations().getOrDefault(KueueConstants.PRIORITY_BOOST, "");
      String own = workload.annotations().getOrDefault(KueueConstants.AGED_BY, "");
      if (!boost.equals(own)) {
        return LifecycleAction.NOTHING;
      }
      Instant begin = waitsSince(workload);
      int due = competes ? aging.boost(Duration.between(begin, now)) : 0;
      String text = due == 0 && own.isEmpty() ? "" : Integer.toString(due);
      if (!text.equals(own)) {
        return LifecycleAction.of(
            new Annotate(
                Map.of(KueueConstants.PRIORITY_BOOST, text, KueueConstants.AGED_BY, text),
                "boost=" + text + (competes ? ", waits since " + begin : ", kept out")));
      }
      return !competes || due == aging.limit()
          ? LifecycleAction.NOTHING
          : new LifecycleAction(Optional.empty(), Optional.of(aging.next(begin, now)));
    }

    /** Since its creation, since it lost its quota, or since it was let into its queue again. */
    private static Instant waitsSince(CachedWorkload workload) {
      return Stream.concat(
              workload.status().condition("Evicted").stream(),
              workload.status().trueCondition("Requeued").stream())
          .map(Condition::lastTransitionTime)
          .filter(workload.createdAt()::isBefore)
          .max(Comparator.naturalOrder())
          .orElse(workload.createdAt());
    }
  }
}
