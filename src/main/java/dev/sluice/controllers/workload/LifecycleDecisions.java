package dev.sluice.controllers.workload;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;
import dev.sluice.controllers.workload.Verdict.Deactivate;
import dev.sluice.controllers.workload.Verdict.Delete;
import dev.sluice.controllers.workload.Verdict.News;
import dev.sluice.controllers.workload.Verdict.PatchStatus;
import dev.sluice.controllers.workload.Verdict.RemoveFinalizer;
import dev.sluice.workloads.Evictions;
import dev.sluice.workloads.PreemptionGates;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.Condition;
import dev.sluice.workloads.Workload.Gate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the life cycle asks of a Workload: a pure function, in the contract's order (Workload life
 * cycle, section 3). It answers with one write at most; what comes after that is decided when the
 * write is seen.
 */
public final class LifecycleDecisions {

  private static final String TARGET = "DeactivationTarget";
  private static final String DUE_TO_TIME =
      Evictions.conditionReason(Evictions.DEACTIVATED, ReservingDecisions.TIME_EXCEEDED);

  private LifecycleDecisions() {}

  /** What the Workload needs, its queues and the time being such. */
  public static Verdict decide(
      Workload workload, Queues queues, LifecycleRules rules, Instant now) {
    if (isOrphan(workload, rules)) {
      return orphan(workload, rules, now);
    }
    if (workload.deleting() || workload.finished()) {
      return retention(workload, rules, now);
    }
    Optional<List<Gate>> gates =
        rules.preemptionGates() ? PreemptionGates.inStep(workload, now) : Optional.empty();
    if (gates.isPresent()) {
      return gates(gates.get());
    }
    if (!workload.spec().active()) {
      return inactive(workload, now);
    }
    Optional<Condition> target = deactivationTarget(workload);
    if (target.isPresent()) {
      return Verdict.of(new Deactivate("deactivated, reason=" + target.get().reason()));
    }
    return workload.quotaReserved()
        ? ReservingDecisions.decide(workload, queues, rules, now)
        : WaitingDecisions.decide(workload, queues, rules, now);
  }

  /** The status names the gates of the spec: new ones are closed. */
  private static Verdict gates(List<Gate> gates) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("preemptionGates", PreemptionGates.json(gates));
    return Verdict.of(new PatchStatus(status, "preemption gates=" + gates.size(), List.<News>of()));
  }

  /** Nothing owns it, and either it is being deleted or a job did own it. */
  private static boolean isOrphan(Workload workload, LifecycleRules rules) {
    return !workload.owned()
        && (workload.deleting()
            || (rules.finishOrphans() && workload.labels().containsKey(Keys.JOB_UID)));
  }

  /** What has finished is deleted when it was kept long enough. */
  private static Verdict retention(Workload workload, LifecycleRules rules, Instant now) {
    Optional<Instant> end =
        rules
            .afterFinished()
            .filter(kept -> !workload.deleting())
            .flatMap(
                kept ->
                    workload
                        .status()
                        .condition("Finished")
                        .map(finished -> finished.lastTransitionTime().plus(kept)));
    if (end.isEmpty()) {
      return Verdict.NOTHING;
    }
    return now.isBefore(end.get())
        ? new Verdict(Optional.empty(), end)
        : Verdict.of(
            new Delete(
                "deleted, reason=retention",
                List.of(
                    new News(
                        false,
                        "Deleted",
                        "Deleted "
                            + rules.afterFinished().orElseThrow().toSeconds()
                            + "s after it finished, as configured"))));
  }

  private static Verdict orphan(Workload workload, LifecycleRules rules, Instant now) {
    if (!workload.finished()) {
      ObjectNode status =
          StatusPatch.of(workload, now)
              .condition("Finished", true, "OwnerNotFound", "The workload has no owner any more")
              .build();
      return Verdict.of(new PatchStatus(status, "finished, reason=OwnerNotFound", List.<News>of()));
    }
    return workload.finalized()
        ? Verdict.of(new RemoveFinalizer("released, reason=OwnerNotFound"))
        : retention(workload, rules, now);
  }

  private static Optional<Condition> deactivationTarget(Workload workload) {
    return workload.status().condition(TARGET).filter(target -> target.status().equals("True"));
  }

  /** Sent back once; what kept it for later is cleared. */
  private static Verdict inactive(Workload workload, Instant now) {
    StatusPatch patch = StatusPatch.of(workload, now);
    Optional<Condition> target = deactivationTarget(workload);
    boolean evicts = !isDeactivated(workload, "Evicted");
    String cause = target.map(Condition::reason).orElse("");
    String message =
        target
            .map(found -> "The workload is deactivated due to: " + found.message())
            .orElse("The workload is deactivated");
    if (evicts) {
      Evictions.evict(patch, workload, now, Evictions.DEACTIVATED, cause, message);
    }
    if (!workload.quotaReserved()) {
      patch.dropReservation(
          Evictions.DEACTIVATED,
          evicts ? message : reasonToStay(workload).orElse("The workload is deactivated"));
    }
    patch.withoutRequeueState().without(TARGET);
    return verdict(
        patch,
        evicts ? evicted(Evictions.DEACTIVATED, cause) : "kept out, reason=Deactivated",
        evicts ? evictionNews(workload, Evictions.DEACTIVATED, cause, message) : List.of());
  }

  /** The message of what sent it back. */
  private static Optional<String> reasonToStay(Workload workload) {
    return workload.status().condition("Evicted").map(Condition::message);
  }

  /** Whether a condition is True because the Workload was deactivated. */
  private static boolean isDeactivated(Workload workload, String type) {
    return workload
        .status()
        .condition(type)
        .filter(condition -> condition.status().equals("True"))
        .filter(condition -> condition.reason().startsWith(Evictions.DEACTIVATED))
        .isPresent();
  }

  /** Whether a reason says that the Workload ran out of its time. */
  static boolean isDueToTime(String reason) {
    return reason.equals(DUE_TO_TIME);
  }

  static String evicted(String reason, String cause) {
    return "evicted, reason=" + Evictions.conditionReason(reason, cause);
  }

  /** What people are told of an eviction; nothing when nothing had been given. */
  static List<News> evictionNews(Workload workload, String reason, String cause, String message) {
    return workload.status().admission().isEmpty()
        ? List.of()
        : List.of(
            new News(false, "EvictedDueTo" + Evictions.conditionReason(reason, cause), message));
  }

  static Verdict verdict(StatusPatch patch, String change, List<News> news) {
    return patch.isEmpty()
        ? Verdict.NOTHING
        : Verdict.of(new PatchStatus(patch.build(), change, news));
  }
}
