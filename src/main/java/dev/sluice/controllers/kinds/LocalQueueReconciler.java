package dev.sluice.controllers.kinds;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.LocalQueueStatus;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.PatchOutcome;
import dev.sluice.controllers.status.QueueStatuses;
import dev.sluice.controllers.status.StatusPatches;
import dev.sluice.controllers.translation.LocalQueues;
import dev.sluice.controllers.translation.NotActedUpon;
import dev.sluice.engine.LocalQueueView;
import dev.sluice.engine.Views;
import java.time.InstantSource;
import java.util.Optional;

/** A LocalQueue: its status is what the engine says. Nothing holds it when it is deleted. */
final class LocalQueueReconciler extends LeaderReconciler<LocalQueue> {

  private final Views views;
  private final MergePatches writer;
  private final StatusPatches patches;
  private final WrittenStatuses<LocalQueueStatus> statuses;
  private final Remarks remarks;
  private final InstantSource clock;

  LocalQueueReconciler(
      Leadership leadership,
      Signals<LocalQueue> signals,
      Views views,
      MergePatches writer,
      ObjectMapper mapper,
      Notices notices,
      InstantSource clock) {
    super(leadership, signals);
    this.views = views;
    this.writer = writer;
    this.patches = new StatusPatches(mapper);
    this.statuses = new WrittenStatuses<>(mapper, LocalQueueStatus.class);
    this.remarks = new Remarks(notices);
    this.clock = clock;
  }

  @Override
  Step step(LocalQueue queue) {
    if (queue.isMarkedForDeletion()) {
      return new Step.Done();
    }
    remarks.say(queue, NotActedUpon.REASON, NotActedUpon.in(queue));
    return views
        .localQueue(LocalQueues.id(queue))
        .map(view -> writeStatus(queue, view))
        .orElseGet(Step.Done::new);
  }

  private Step writeStatus(LocalQueue queue, LocalQueueView view) {
    LocalQueueStatus standing = statuses.standing(queue);
    LocalQueueStatus wanted =
        QueueStatuses.localQueue(view, generation(queue), standing, clock.instant());
    Optional<ObjectNode> patch = patches.between(standing, wanted);
    if (patch.isEmpty()) {
      return new Step.Done();
    }
    PatchOutcome outcome = writer.patchStatus(queue, patch.get());
    statuses.remember(queue, outcome);
    return after(queue, outcome);
  }

  @Override
  void forget(LocalQueue queue) {
    statuses.forget(queue);
    remarks.forget(queue);
  }
}
