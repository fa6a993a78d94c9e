package dev.sluice.controllers.workload;

import dev.sluice.api.Keys;
import dev.sluice.controllers.workload.Verdict.News;
import dev.sluice.workloads.Evictions;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.Condition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What an active Workload without quota needs: to be let back into the queue, to be kept out by a
 * gate, to say so (Workload life cycle, sections 2 and 3, steps 7 to 11).
 */
final class WaitingDecisions {

  private static final String ADMISSION_GATED = "AdmissionGated";
  private static final Set<String> ENDED_BY_BACK_OFF = Set.of("PodsReadyTimeout", "AdmissionCheck");

  private final Workload workload;
  private final Queues queues;
  private final LifecycleRules rules;
  private final Instant now;
  private final StatusPatch patch;
  private final List<News> news = new ArrayList<>();

  private WaitingDecisions(Workload workload, Queues queues, LifecycleRules rules, Instant now) {
    this.workload = workload;
    this.queues = queues;
    this.rules = rules;
    this.now = now;
    this.patch = StatusPatch.of(workload, now);
  }

  static Verdict decide(Workload workload, Queues queues, LifecycleRules rules, Instant now) {
    return new WaitingDecisions(workload, queues, rules, now).decide();
  }

  private Verdict decide() {
    Optional<Instant> backOff = CheckDecisions.backOff(patch, workload, now);
    boolean backsOff = backOff.filter(until -> until.isAfter(now)).isPresent();
    if (backOff.isPresent() && !backsOff) {
      endBackOff();
    }
    letBackIn(backsOff);
    sayWhyItIsOut();
    if (!isGated()) {
      CheckDecisions.inStep(patch, workload, queues, now);
    }
    if (workload.admitted()) {
      patch.dropReservation(reason().orElse("PendingEvaluation"), message());
    }
    Verdict verdict = LifecycleDecisions.verdict(patch, change(), news);
    return new Verdict(verdict.action(), backsOff ? backOff : Optional.empty());
  }

  private void endBackOff() {
    if (workload.status().requeueState().filter(state -> state.count() > 0).isPresent()) {
      patch.fields().putObject("requeueState").putNull("requeueAt");
    } else {
      patch.withoutRequeueState();
    }
  }

  /** What kept it out of the queue may be over. */
  private void letBackIn(boolean backsOff) {
    String keptOut = falseReason("Requeued");
    if (keptOut.startsWith(Evictions.DEACTIVATED)) {
      requeue("Reactivated", "The workload was reactivated");
      if (LifecycleDecisions.isDueToTime(keptOut)
          && workload.status().history().executionSeconds() > 0) {
        patch.fields().putNull("accumulatedPastExecutionTimeSeconds");
      }
    } else if (ENDED_BY_BACK_OFF.contains(keptOut) && !backsOff) {
      requeue("BackoffFinished", "The back-off after its eviction is over");
    } else if (keptOut.equals("LocalQueueStopped") && queues.local() == QueueStanding.OPEN) {
      requeue("LocalQueueRestarted", "The LocalQueue was restarted");
    } else if (keptOut.equals("ClusterQueueStopped") && queues.cluster() == QueueStanding.OPEN) {
      requeue("ClusterQueueRestarted", "The ClusterQueue was restarted");
    }
  }

  private void requeue(String reason, String message) {
    patch.condition("Requeued", true, reason, message);
    if (reason().filter("Suspended"::equals).isPresent()) {
      evaluateAnew();
    }
  }

  /** Only what the engine can't know; for the rest it is the one who says. */
  private void sayWhyItIsOut() {
    String gates = gates();
    String known = reason().orElse("");
    if (known.equals("OnHold")) {
      return;
    }
    if (!gates.isEmpty()) {
      String message = "Admission is gated by: " + gates;
      patch.dropReservation(ADMISSION_GATED, message);
      if (!known.equals(ADMISSION_GATED)) {
        news.add(new News(false, ADMISSION_GATED, message));
      }
    } else if (workload.spec().queueName().isEmpty()) {
      patch.dropReservation("Misconfigured", "The workload names no LocalQueue");
    } else if (known.equals(ADMISSION_GATED)) {
      evaluateAnew();
      news.add(new News(false, "AdmissionGateCleared", "No admission gate is left"));
    } else if (known.equals(Evictions.DEACTIVATED)
        || (rules.explicitStatus() && patch.current("QuotaReserved").isEmpty())) {
      evaluateAnew();
    }
  }

  private String gates() {
    return workload.annotations().getOrDefault(Keys.ADMISSION_GATED_BY, "").strip();
  }

  /** While it is gated, its checks are left alone. */
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
