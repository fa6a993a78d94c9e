package dev.sluice.app.module;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.config.GoDuration;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.Type;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.workload.lifecycle.LifecycleAction;
import dev.sluice.workload.lifecycle.WorkloadLifecycle.LifecycleEvents;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Preemptions;
import dev.sluice.workload.status.StatusPatch.NodeFailures;
import dev.sluice.workload.writing.AdmissionObserver;
import dev.sluice.workload.writing.DecisionExecutor.DecisionLog;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records an event and a log line for each decision about a Workload after its write succeeded. */
final class SchedulingEventRecorder implements AdmissionObserver, LifecycleEvents {

  private static final Logger LOG = LoggerFactory.getLogger(DecisionLog.NAME);

  private final EventRecorder events;
  private final InstantSource clock;
  private final BiConsumer<String, String> preemptions;

  /** {@code preemptions} counts each, by the preempting ClusterQueue and the reason. */
  SchedulingEventRecorder(
      EventRecorder events, InstantSource clock, BiConsumer<String, String> preemptions) {
    this.events = events;
    this.clock = clock;
    this.preemptions = preemptions;
  }

  @Override
  public void reserved(Decision.Admit decision, CachedWorkload before, boolean admitted) {
    Duration waited = Duration.between(before.queuedSince(), clock.instant());
    LOG.info(
        "workload={} reserved=true admitted={} clusterQueue={} waited={}s",
        decision.id(),
        admitted,
        decision.clusterQueue(),
        waited.toSeconds());
    record(
        decision.id(),
        Type.NORMAL,
        "QuotaReserved",
        ExplanationText.quotaReserved(decision.clusterQueue(), waited, decision.considered()));
    if (admitted) {
      record(
          decision.id(),
          Type.NORMAL,
          "Admitted",
          ExplanationText.admitted(decision.clusterQueue(), Duration.ZERO));
    }
  }

  /**
   * What happened to a planned start. The note of a move names no time: all moves for one cause are
   * one series.
   */
  void backfill(BackfillEvent event) {
    String cause = event.cause().map(PlannedStart.LateCause::text).orElse("");
    switch (event.kind()) {
      case BACKFILLED ->
          record(
              event.id(),
              Type.NORMAL,
              "Backfilled",
              "Starts before workloads that come before it: none of their planned starts gets later");
      case MOVED ->
          record(
              event.id(), Type.NORMAL, "PlannedStartMoved", "Planned start moved back: " + cause);
      case LATE ->
          record(
              event.id(),
              Type.WARNING,
              "PlannedStartMissed",
              "Started later than planned: " + cause);
      case KEPT -> {}
    }
  }

  @Override
  public void checkpointRequested(
      Decision.Preempt decision, Decision.Target target, Duration grace) {
    LOG.info(
        "workload={} checkpointRequested=true grace={}s preemptor={}",
        target.id(),
        grace.toSeconds(),
        decision.id());
    record(
        target.id(),
        Type.NORMAL,
        "CheckpointRequested",
        "Asked to save its work within "
            + GoDuration.format(grace)
            + ", because workload "
            + decision.id().uid()
            + " needs the quota ("
            + CheckpointAnnotations.REQUESTED_AT
            + "; answered by "
            + CheckpointAnnotations.CHECKPOINTED_AT
            + ")");
  }

  @Override
  public void preempted(
      Decision.Preempt decision, Decision.Target target, CachedWorkload before, String message) {
    String reason = target.reason().apiReason();
    if (target.reason() == Decision.PreemptionReason.FLAVOR_MIGRATION) {
      LOG.info("workload={} evicted=true reason={} variant={}", target.id(), reason, decision.id());
      record(target.id(), Type.NORMAL, "EvictedDueTo" + reason, message);
      return;
    }
    LOG.info(
        "workload={} evicted=true reason=Preempted policy={} preemptor={} clusterQueue={}",
        target.id(),
        reason,
        decision.id(),
        decision.clusterQueue());
    preemptions.accept(decision.clusterQueue(), reason);
    record(target.id(), Type.NORMAL, Preemptions.PREEMPTED, message);
    if (before.status().admission().isPresent()) {
      record(target.id(), Type.NORMAL, "EvictedDueToPreempted", message);
    }
    // The same note for each target makes one series of the events of a preemptor.
    record(
        decision.id(),
        Type.NORMAL,
        "PreemptedWorkload",
        "Preempted workloads, reason: "
            + reason
            + "; the event "
            + Preemptions.PREEMPTED
            + " of each names this one");
  }

  @Override
  public void placed(PlacementDecision.Place decision) {
    LOG.info("workload={} placed=true lostNodes={}", decision.id(), decision.lostNodes());
  }

  @Override
  public void unplaced(PlacementDecision.GiveUp decision) {
    String text = ExplanationText.unplaced(decision);
    LOG.info("workload={} placed=false message=\"{}\"", decision.id(), text);
    record(decision.id(), Type.WARNING, "SecondPassFailed", text);
  }

  @Override
  public void nodesFailed(CachedWorkload before, String message) {
    LOG.info(
        "workload={} evicted=true reason={} message=\"{}\"",
        before.id(),
        NodeFailures.REASON,
        message);
    record(before.id(), Type.NORMAL, "EvictedDueTo" + NodeFailures.REASON, message);
  }

  @Override
  public void explained(PendingExplanation decision, CachedWorkload before) {
    String text = ExplanationText.message(decision.explanation());
    String reason = decision.explanation().reason().apiReason();
    LOG.info("workload={} waits=true reason={} message=\"{}\"", decision.id(), reason, text);
    record(decision.id(), Type.WARNING, reason, text);
  }

  @Override
  public void record(WorkloadId workload, LifecycleAction.EventSpec eventSpec) {
    record(
        workload,
        eventSpec.warning() ? Type.WARNING : Type.NORMAL,
        eventSpec.reason(),
        eventSpec.note());
  }

  private void record(WorkloadId id, Type type, String reason, String note) {
    events.record(WorkloadReference.of(id), type, reason, "Admission", note);
  }

  /** Workloads as the objects that events are about. */
  static final class WorkloadReference {

    private WorkloadReference() {}

    /** The reference to a Workload. */
    static ObjectReference of(WorkloadId id) {
      return new ObjectReference(
          ApiVersions.GROUP + "/" + ApiVersions.V1BETA2,
          "Workload",
          id.namespace(),
          id.name(),
          id.uid());
    }
  }
}
