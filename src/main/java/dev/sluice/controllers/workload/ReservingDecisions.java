package dev.sluice.controllers.workload;

import dev.sluice.controllers.workload.Verdict.News;
import dev.sluice.controllers.workload.Verdict.PatchStatus;
import dev.sluice.workloads.CheckStates;
import dev.sluice.workloads.Evictions;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.Workload.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What an active Workload with quota needs: to be admitted when nothing is missing, or to be sent
 * back when its queues or its time demand it (Workload life cycle, section 3, steps 11 and 12).
 */
final class ReservingDecisions {

  /** Why a Workload is to be deactivated that ran as long as it may. */
  static final String TIME_EXCEEDED = "MaximumExecutionTimeExceeded";

  private final Workload workload;
  private final Queues queues;
  private final LifecycleRules rules;
  private final Instant now;

  private ReservingDecisions(Workload workload, Queues queues, LifecycleRules rules, Instant now) {
    this.workload = workload;
    this.queues = queues;
    this.rules = rules;
    this.now = now;
  }

  static Verdict decide(Workload workload, Queues queues, LifecycleRules rules, Instant now) {
    ReservingDecisions decisions = new ReservingDecisions(workload, queues, rules, now);
    if (workload.evicted()) {
      return Verdict.NOTHING;
    }
    Optional<Verdict> refused = CheckDecisions.refused(workload, now);
    if (refused.isPresent()) {
      return refused.get();
    }
    return workload.admitted() ? decisions.running() : decisions.notYetAdmitted();
  }

  private Verdict running() {
    if (queues.local() == QueueStanding.DRAINED) {
      return evict("LocalQueueStopped", "The LocalQueue is stopped");
    }
    if (queues.cluster() == QueueStanding.DRAINED) {
      return evict("ClusterQueueStopped", "The ClusterQueue is stopped");
    }
    StatusPatch patch = StatusPatch.of(workload, now);
    CheckDecisions.inStep(patch, workload, queues, now);
    return patch.isEmpty()
        ? ReadinessDecisions.decide(workload, rules.podsReady(), now).or(this::timeLimit)
        : LifecycleDecisions.verdict(patch, "checks in step", List.of());
  }

  private Verdict evict(String reason, String message) {
    StatusPatch patch = StatusPatch.of(workload, now);
    Evictions.evict(patch, workload, now, reason, "", message);
    return Verdict.of(
        new PatchStatus(
            patch.build(),
            LifecycleDecisions.evicted(reason, ""),
            LifecycleDecisions.evictionNews(workload, reason, "", message)));
  }

  private Verdict timeLimit() {
    int limit = workload.spec().maximumExecutionTimeSeconds();
    Optional<Condition> admitted = workload.status().condition("Admitted");
    if (limit <= 0 || admitted.isEmpty()) {
      return Verdict.NOTHING;
    }
    long before = workload.status().history().executionSeconds();
    Instant end =
        admitted.get().lastTransitionTime().plus(Duration.ofSeconds(Math.max(0, limit - before)));
    return now.isBefore(end)
        ? new Verdict(Optional.empty(), Optional.of(end))
        : timeExceeded(limit);
  }

  private Verdict timeExceeded(int limit) {
    String message = "It ran longer than its maximum execution time of " + limit + "s";
    StatusPatch patch =
        StatusPatch.of(workload, now).condition("DeactivationTarget", true, TIME_EXCEEDED, message);
    if (workload.status().history().executionSeconds() > 0) {
      patch.fields().putNull("accumulatedPastExecutionTimeSeconds");
    }
    return Verdict.of(
        new PatchStatus(
            patch.build(),
            "to be deactivated, reason=" + TIME_EXCEEDED,
            List.of(new News(true, TIME_EXCEEDED, message))));
  }

  private Verdict notYetAdmitted() {
    if (queues.local().stopped()) {
      return drop("Suspended", "The LocalQueue is stopped");
    }
    if (queues.cluster().stopped()) {
      return drop("Suspended", "The ClusterQueue is stopped");
    }
    if (isAbsent(queues.local())) {
      return drop("Misconfigured", "The LocalQueue doesn't exist");
    }
    if (isAbsent(queues.cluster())) {
      return drop("Misconfigured", "The ClusterQueue doesn't exist or is being deleted");
    }
    return workload.status().admission().isEmpty() ? Verdict.NOTHING : checked();
  }

  /** Admitted once all checks are Ready that it needs by now, with the flavors it was given. */
  private Verdict checked() {
    List<CheckState> present = workload.status().admissionChecks();
    List<CheckState> checks =
        queues
            .checks()
            .flatMap(required -> CheckStates.inStep(present, required, now))
            .orElse(present);
    if (CheckStates.allReady(checks)) {
      return admit();
    }
    StatusPatch patch = StatusPatch.of(workload, now).admittedBy(checks);
    CheckDecisions.inStep(patch, workload, queues, now);
    return LifecycleDecisions.verdict(patch, "waits for admission checks", List.of());
  }

  private static boolean isAbsent(QueueStanding standing) {
    return standing == QueueStanding.MISSING || standing == QueueStanding.TERMINATING;
  }

  private Verdict drop(String reason, String message) {
    return LifecycleDecisions.verdict(
        StatusPatch.of(workload, now).dropReservation(reason, message),
        "reservation dropped, reason=" + reason,
        List.of());
  }

  private Verdict admit() {
    String clusterQueue =
        workload.status().admission().map(Workload.Admission::clusterQueue).orElse("");
    StatusPatch patch = StatusPatch.of(workload, now).admittedBy(List.of());
    CheckDecisions.inStep(patch, workload, queues, now);
    return LifecycleDecisions.verdict(
        patch,
        "admitted",
        List.of(
            new News(
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
}
