package dev.sluice.workload.lifecycle;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Decides about an active Workload without quota: requeues it when the reason that kept it out of
 * the queue is over, keeps it out while an admission gate is set, and writes the reason
 * (docs/workload-semantics.md#reasons-for-waiting, steps 7 to 11).
 */
final class PendingWorkloadPolicy {

  /** How long the list of checks of a new Workload isn't written for itself. */
  static final Duration NEW = Duration.ofSeconds(5);

  private static final String ADMISSION_GATED = "AdmissionGated";
  private static final String MISCONFIGURED = "Misconfigured";
  private static final String DEVICES_UNRESOLVED = "DRAResourcesUnresolved";
  private static final String SUSPENDED = "Suspended";
  private static final Set<String> ENDED_BY_BACK_OFF = Set.of("PodsReadyTimeout", "AdmissionCheck");

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
   * Whether nothing of its own keeps the Workload out of the queue: its owner decides about gates,
   * hold, queue name and devices, and gains no priority by them. Requeued=False is what an eviction
   * left behind, such as a back-off, and a queue that is stopped holds all of its Workloads.
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
    } else if (keptOut.equals("ClusterQueueStopped") && queueLookup.cluster() == QueueState.OPEN) {
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
    return requeued.isEmpty() ? "waits, reason=" + reason().orElse("PendingEvaluation") : requeued;
  }
}
