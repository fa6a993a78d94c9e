package dev.sluice.workload.lifecycle;

import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.LifecycleOptions.Eviction;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.RequeueState;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.StatusPatch;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.stream.Collectors;

/**
 * The effects of admission checks on a Workload: the list of checks in its status follows the
 * ClusterQueue, and a Workload that a check refuses is evicted or deactivated
 * (docs/workload-semantics.md#order-of-reconciliation, 4 and 5).
 */
final class AdmissionCheckPolicy {

  /** The reason of the eviction of a Workload for which a check requests a retry. */
  static final String ADMISSION_CHECK = "AdmissionCheck";

  private AdmissionCheckPolicy() {}

  /**
   * Adds the list of checks to a patch, unless it contains exactly the required checks, or the
   * status has no room for them.
   */
  static void synced(
      StatusPatch patch, CachedWorkload workload, QueueLookup queueLookup, Instant now) {
    queueLookup
        .checks()
        .flatMap(required -> CheckStates.synced(workload.status().admissionChecks(), required, now))
        .filter(CheckStates::hasRoom)
        .ifPresent(checks -> patch.fields().set("admissionChecks", CheckStates.json(checks)));
  }

  /**
   * Adds the list of checks of a Workload without quota to a patch, unless it contains exactly the
   * required checks, none of which refuses the Workload. It keeps its names where the status has no
   * room for the required ones.
   *
   * @param requiredChecks empty if the list keeps its names
   */
  static void restarted(
      StatusPatch patch,
      CachedWorkload workload,
      Optional<SortedSet<String>> requiredChecks,
      Instant now) {
    List<CheckState> present = workload.status().admissionChecks();
    List<CheckState> restarted = CheckStates.withoutRefusals(present, now);
    requiredChecks
        .flatMap(required -> CheckStates.synced(restarted, required, now))
        .filter(CheckStates::hasRoom)
        .or(() -> Optional.of(restarted).filter(list -> !list.equals(present)))
        .ifPresent(checks -> patch.fields().set("admissionChecks", CheckStates.json(checks)));
  }

  /**
   * The action on a Workload without quota that a required check has rejected; empty if none has.
   */
  static Optional<LifecycleAction> rejectedWithoutQuota(
      CachedWorkload workload, QueueLookup queueLookup, Instant now) {
    List<CheckState> rejecting =
        in(CheckState.REJECTED, workload).stream()
            .filter(
                check -> queueLookup.checks().filter(it -> !it.contains(check.name())).isEmpty())
            .toList();
    return rejecting.isEmpty()
        ? Optional.empty()
        : Optional.of(rejected(workload, rejecting, "", now));
  }

  /**
   * Adds the backoff that checks request to a patch. An end of the backoff that is set already is
   * only replaced by a later one.
   *
   * @return the end of the backoff; empty without a backoff
   */
  static Optional<Instant> backOff(StatusPatch patch, CachedWorkload workload, Instant now) {
    Optional<Instant> known = workload.status().requeueState().flatMap(RequeueState::requeueAt);
    Optional<Instant> wanted =
        CheckStates.backOff(workload.status().admissionChecks())
            .filter(until -> until.isAfter(now))
            .filter(until -> known.filter(at -> !until.isAfter(at)).isEmpty());
    wanted.ifPresent(
        until -> patch.fields().putObject("requeueState").put("requeueAt", until.toString()));
    return wanted.or(() -> known);
  }

  /**
   * The action on a Workload with quota that a check refuses; empty if no check refuses it, or if
   * nobody stops it and that was told already.
   */
  static Optional<LifecycleAction> refused(
      CachedWorkload workload, Eviction eviction, Instant now) {
    List<CheckState> rejecting = in(CheckState.REJECTED, workload);
    if (eviction == Eviction.IMPOSSIBLE) {
      // the condition says that it was told, and deactivates it once the quota is given back
      return rejecting.isEmpty() || workload.status().isTrue("DeactivationTarget")
          ? Optional.empty()
          : Optional.of(
              rejected(workload, rejecting, "; it runs on, as nobody here stops it", now));
    }
    if (!rejecting.isEmpty()) {
      return Optional.of(rejected(workload, rejecting, "", now));
    }
    List<CheckState> retrying = in(CheckState.RETRY, workload);
    return retrying.isEmpty()
        ? Optional.empty()
        : Optional.of(retried(workload, retrying, eviction, now));
  }

  private static LifecycleAction rejected(
      CachedWorkload workload, List<CheckState> by, String result, Instant now) {
    String message = "Admission checks rejected the workload: " + eventOf(by) + result;
    return LifecycleAction.of(
        new PatchStatus(
            StatusPatch.of(workload, now)
                .condition("DeactivationTarget", true, ADMISSION_CHECK, message)
                .build(),
            "to be deactivated, reason=" + ADMISSION_CHECK,
            List.of(new EventSpec(true, "AdmissionCheckRejected", message))));
  }

  private static LifecycleAction retried(
      CachedWorkload workload, List<CheckState> by, Eviction eviction, Instant now) {
    String message = "Admission checks ask for another try: " + eventOf(by);
    StatusPatch patch = StatusPatch.of(workload, now);
    backOff(patch, workload, now);
    Evictions.evict(patch, workload, now, ADMISSION_CHECK, "", message);
    if (eviction == Eviction.AT_ONCE) {
      patch
          .dropReservation("PendingEvaluation", message)
          .condition("Requeued", false, ADMISSION_CHECK, message);
    }
    return LifecycleAction.of(
        new PatchStatus(
            patch.build(),
            LifecyclePolicy.evicted(ADMISSION_CHECK, ""),
            LifecyclePolicy.evictionEvent(workload, ADMISSION_CHECK, "", message)));
  }

  private static List<CheckState> in(String state, CachedWorkload workload) {
    return workload.status().admissionChecks().stream().filter(check -> check.is(state)).toList();
  }

  private static String eventOf(List<CheckState> checks) {
    return checks.stream()
        .map(
            check ->
                check.message().isEmpty()
                    ? check.name()
                    : check.name() + " (" + check.message() + ")")
        .collect(Collectors.joining(", "));
  }
}
