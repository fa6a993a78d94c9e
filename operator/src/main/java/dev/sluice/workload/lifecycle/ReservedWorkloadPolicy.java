package dev.sluice.workload.lifecycle;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.Configuration.WaitForPodsReady.Requeuing;
import dev.sluice.api.queueing.PodsReadyTimeouts;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.LifecycleOptions.Eviction;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.RequeueState;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.status.DelayedTopology;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.IdleSpreading;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * Decides about an active Workload with quota: admits it when all admission checks are Ready, and
 * evicts it when a queue is drained or its maximum execution time is over
 * (docs/workload-semantics.md#order-of-reconciliation, steps 11 and 12).
 */
final class ReservedWorkloadPolicy {

  /** The reason of the deactivation of a Workload that exceeded its maximum execution time. */
  static final String TIME_EXCEEDED = "MaximumExecutionTimeExceeded";

  /** The change of the status that admits a Workload. */
  static final String ADMITTED = "admitted";

  private final CachedWorkload workload;
  private final QueueLookup queueLookup;
  private final LifecycleOptions options;
  private final Instant now;
  private final Eviction eviction;

  private ReservedWorkloadPolicy(
      CachedWorkload workload, QueueLookup queueLookup, LifecycleOptions options, Instant now) {
    this.workload = workload;
    this.queueLookup = queueLookup;
    this.options = options;
    this.now = now;
    this.eviction = options.evictionOf(workload);
  }

  static LifecycleAction decide(
      CachedWorkload workload, QueueLookup queueLookup, LifecycleOptions options, Instant now) {
    ReservedWorkloadPolicy decisions =
        new ReservedWorkloadPolicy(workload, queueLookup, options, now);
    if (workload.evicted()) {
      return LifecycleAction.NOTHING;
    }
    Optional<LifecycleAction> refused =
        AdmissionCheckPolicy.refused(workload, decisions.eviction, now);
    if (refused.isPresent()) {
      return refused.get();
    }
    return workload.admitted() ? decisions.running() : decisions.notYetAdmitted();
  }

  private LifecycleAction running() {
    boolean mayEvict = eviction != Eviction.IMPOSSIBLE;
    if (mayEvict && queueLookup.local() == QueueState.DRAINED) {
      return evict("LocalQueueStopped", "The LocalQueue is stopped");
    }
    if (mayEvict && queueLookup.cluster() == QueueState.DRAINED) {
      return evict("ClusterQueueStopped", "The ClusterQueue is stopped");
    }
    StatusPatch patch = StatusPatch.of(workload, now);
    AdmissionCheckPolicy.synced(patch, workload, queueLookup, now);
    IdleSpreading.written(patch, queueLookup.idleSpreading());
    if (!patch.isEmpty()) {
      return LifecyclePolicy.action(patch, "checks in step", List.of());
    }
    return mayEvict
        ? PodsReadyPolicy.decide(workload, startRules(), queueLookup.unscheduledPods(), now)
            .or(this::timeLimit)
        : LifecycleAction.NOTHING;
  }

  /**
   * The rules of the queue, which stand in for those of the configuration; or the latter, with the
   * times that the Workload says.
   */
  private Optional<WaitForPodsReady> startRules() {
    StartRules ofQueue = queueLookup.startRules();
    return ofQueue
        .timeout()
        .map(
            timeout ->
                new WaitForPodsReady(
                    timeout,
                    false,
                    Duration.ZERO,
                    new Requeuing(false, Optional.empty(), ofQueue.backoff(), ofQueue.backoff())))
        .or(
            () ->
                options
                    .podsReady()
                    .map(
                        configured ->
                            PodsReadyTimeouts.of(workload.annotations())
                                .map(own -> configured.with(own.timeout(), own.recoveryTimeout()))
                                .orElse(configured)));
  }

  private LifecycleAction evict(String reason, String message) {
    StatusPatch patch = StatusPatch.of(workload, now);
    Evictions.evict(patch, workload, now, reason, "", message);
    return LifecycleAction.of(
        new PatchStatus(
            patch.build(),
            LifecyclePolicy.evicted(reason, ""),
            LifecyclePolicy.evictionEvent(workload, reason, "", message)));
  }

  private LifecycleAction timeLimit() {
    int limit = workload.spec().maximumExecutionTimeSeconds();
    Optional<Condition> admitted = workload.status().condition("Admitted");
    if (limit <= 0 || admitted.isEmpty()) {
      return LifecycleAction.NOTHING;
    }
    long before = workload.status().history().executionSeconds();
    Instant end =
        admitted.get().lastTransitionTime().plus(Duration.ofSeconds(Math.max(0, limit - before)));
    return now.isBefore(end)
        ? new LifecycleAction(Optional.empty(), Optional.of(end))
        : timeExceeded(limit);
  }

  private LifecycleAction timeExceeded(int limit) {
    String message = "It ran longer than its maximum execution time of " + limit + "s";
    StatusPatch patch =
        StatusPatch.of(workload, now).condition("DeactivationTarget", true, TIME_EXCEEDED, message);
    if (workload.status().history().executionSeconds() > 0) {
      patch.fields().putNull("accumulatedPastExecutionTimeSeconds");
    }
    return LifecycleAction.of(
        new PatchStatus(
            patch.build(),
            "to be deactivated, reason=" + TIME_EXCEEDED,
            List.of(new EventSpec(true, TIME_EXCEEDED, message))));
  }

  /** First Admitted follows the checks, then the queues are looked at. */
  private LifecycleAction notYetAdmitted() {
    List<CheckState> checks = checks();
    if (workload.status().admission().isPresent()
        && CheckStates.allReady(checks)
        && (!DelayedTopology.isPending(workload) || runsElsewhere(workload))) {
      return admit();
    }
    if (queueLookup.local().stopped()) {
      return drop("Suspended", "The LocalQueue is stopped");
    }
    if (queueLookup.cluster().stopped()) {
      return drop("Suspended", "The ClusterQueue is stopped");
    }
    if (isAbsent(queueLookup.local())) {
      return drop("Misconfigured", "The LocalQueue doesn't exist");
    }
    if (isAbsent(queueLookup.cluster())) {
      return drop("Misconfigured", "The ClusterQueue doesn't exist or is being deleted");
    }
    Optional<String> lackOfRoom = CheckStates.lackOfRoom(checks);
    if (lackOfRoom.isPresent()) {
      return drop("Misconfigured", lackOfRoom.get());
    }
    return workload.status().admission().isEmpty() ? LifecycleAction.NOTHING : waiting(checks);
  }

  /**
   * The states of the checks that the ClusterQueue of the Workload now requires for the assigned
   * flavors.
   */
  private List<CheckState> checks() {
    List<CheckState> present = workload.status().admissionChecks();
    return queueLookup
        .checks()
        .flatMap(required -> CheckStates.synced(present, required, now))
        .orElse(present);
  }

  private LifecycleAction waiting(List<CheckState> checks) {
    StatusPatch patch =
        StatusPatch.of(workload, now).admittedBy(checks, DelayedTopology.isPending(workload));
    AdmissionCheckPolicy.synced(patch, workload, queueLookup, now);
    return LifecyclePolicy.action(patch, "waits for admission checks", List.of());
  }

  /** Whether a worker cluster has the pods, and therefore places them. */
  private static boolean runsElsewhere(CachedWorkload workload) {
    return !workload.status().remotePlacement().cluster().isEmpty();
  }

  private static boolean isAbsent(QueueState standing) {
    return standing == QueueState.MISSING || standing == QueueState.TERMINATING;
  }

  private LifecycleAction drop(String reason, String message) {
    return LifecyclePolicy.action(
        StatusPatch.of(workload, now).dropReservation(reason, message),
        "reservation dropped, reason=" + reason,
        List.of());
  }

  private LifecycleAction admit() {
    String clusterQueue =
        workload.status().admission().map(CachedWorkload.Admission::clusterQueue).orElse("");
    StatusPatch patch = StatusPatch.of(workload, now).admittedBy(List.of(), false);
    if (DelayedTopology.isPending(workload)) {
      patch.fields().set("admission", DelayedTopology.placedElsewhere(workload));
    }
    AdmissionCheckPolicy.synced(patch, workload, queueLookup, now);
    return LifecyclePolicy.action(
        patch,
        ADMITTED,
        List.of(
            new EventSpec(
                false,
                "Admitted",
                "Admitted by ClusterQueue "
                    + clusterQueue
                    + ", wait time since reservation was "
                    + sinceReserved().toSeconds()
                    + "s")));
  }

  private Duration sinceReserved() {
    return workload
        .status()
        .condition("QuotaReserved")
        .map(reserved -> Duration.between(reserved.lastTransitionTime(), now))
        .orElse(Duration.ZERO);
  }

  /**
   * Decides about an admitted Workload whose pods take too long to be ready: it is evicted with a
   * backoff, or deactivated after too many evictions
   * (docs/scheduling-semantics.md#waiting-for-pods).
   */
  private static final class PodsReadyPolicy {

    private static final String LIMIT_EXCEEDED = "RequeuingLimitExceeded";
    private static final int LARGEST_EXPONENT = 31;

    private final CachedWorkload workload;
    private final WaitForPodsReady options;
    private final boolean unscheduledPods;
    private final Instant now;

    private PodsReadyPolicy(
        CachedWorkload workload, WaitForPodsReady options, boolean unscheduledPods, Instant now) {
      this.workload = workload;
      this.options = options;
      this.unscheduledPods = unscheduledPods;
      this.now = now;
    }

    /** The eviction if the timeout has passed; otherwise the time at which it passes. */
    static LifecycleAction decide(
        CachedWorkload workload,
        Optional<WaitForPodsReady> options,
        boolean unscheduledPods,
        Instant now) {
      return options
          .map(present -> new PodsReadyPolicy(workload, present, unscheduledPods, now).decide())
          .orElse(LifecycleAction.NOTHING);
    }

    private LifecycleAction decide() {
      Optional<Condition> ready = workload.status().condition(PodsReady.TYPE);
      if (ready.filter(condition -> condition.status().equals("True")).isPresent()) {
        return LifecycleAction.NOTHING;
      }
      boolean recovering =
          ready
              .filter(condition -> condition.reason().equals(PodsReady.WAIT_FOR_RECOVERY))
              .isPresent();
      Duration patience = recovering ? options.recoveryTimeout() : options.timeout();
      Optional<Instant> since =
          (recovering ? ready : workload.status().condition("Admitted"))
              .map(Condition::lastTransitionTime);
      if (since.isEmpty()) {
        return LifecycleAction.NOTHING;
      }
      Optional<Instant> nodesBy =
          options
              .unscheduledTimeout()
              .filter(any -> !recovering && !runsElsewhere(workload))
              .map(since.get()::plus);
      if (nodesBy.filter(by -> unscheduledPods && !now.isBefore(by)).isPresent()) {
        return tooLate(
            PodsReady.WAIT_FOR_SCHEDULING,
            "Not all of its pods had a node within "
                + options.unscheduledTimeout().orElseThrow().toSeconds()
                + "s");
      }
      Optional<Instant> next = nodesBy.filter(now::isBefore);
      if (patience.isZero()) {
        return new LifecycleAction(Optional.empty(), next);
      }
      Instant end = since.get().plus(patience);
      if (now.isBefore(end)) {
        return new LifecycleAction(
            Optional.empty(), next.filter(end::isAfter).or(() -> Optional.of(end)));
      }
      return tooLate(
          recovering ? PodsReady.WAIT_FOR_RECOVERY : PodsReady.WAIT_FOR_START,
          "Its pods were not ready within " + patience.toSeconds() + "s");
    }

    private LifecycleAction tooLate(String cause, String message) {
      int before = workload.status().requeueState().map(RequeueState::count).orElse(0);
      if (options.requeuing().backoffLimitCount().filter(limit -> before + 1 > limit).isPresent()) {
        return LifecycleAction.of(
            new PatchStatus(
                StatusPatch.of(workload, now)
                    .condition(
                        "DeactivationTarget",
                        true,
                        LIMIT_EXCEEDED,
                        "It was sent back " + before + " times already; " + message)
                    .build(),
                "to be deactivated, reason=" + LIMIT_EXCEEDED,
                List.of()));
      }
      StatusPatch patch = StatusPatch.of(workload, now);
      patch
          .fields()
          .putObject("requeueState")
          .put("count", before + 1)
          .put("requeueAt", now.plus(pause(before)).truncatedTo(ChronoUnit.SECONDS).toString());
      Evictions.evict(patch, workload, now, PodsReady.TIMEOUT, cause, message);
      return LifecycleAction.of(
          new PatchStatus(
              patch.build(),
              LifecyclePolicy.evicted(PodsReady.TIMEOUT, "") + " cause=" + cause,
              LifecyclePolicy.evictionEvent(workload, PodsReady.TIMEOUT, "", message)));
    }

    /** The backoff: doubled with each earlier eviction, up to the longest backoff. */
    private Duration pause(int before) {
      long seconds =
          options.requeuing().backoffBase().toSeconds() << Math.min(before, LARGEST_EXPONENT);
      return Duration.ofSeconds(Math.min(seconds, options.requeuing().backoffMax().toSeconds()));
    }
  }
}
