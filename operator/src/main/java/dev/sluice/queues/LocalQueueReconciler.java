package dev.sluice.queues;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueStatus;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.PerGenerationEvents;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.mapping.LocalQueueMapper;
import dev.sluice.queues.status.QueueStatuses;
import java.time.InstantSource;

/**
 * Reconciles a LocalQueue: writes the status from the scheduler's view. A LocalQueue has no
 * finalizer.
 */
final class LocalQueueReconciler extends LeaderAwareReconciler<LocalQueue> {

  private final SchedulerViews schedulerViews;
  private final StatusWriter<LocalQueueStatus> statuses;
  private final InstantSource clock;
  private final PerGenerationEvents events;

  LocalQueueReconciler(
      Leadership leadership,
      ReconcileTrigger<LocalQueue> reconcileTrigger,
      SchedulerViews schedulerViews,
      ApiClient writer,
      ObjectMapper mapper,
      InstantSource clock,
      EventNotifier eventNotifier) {
    super(leadership, reconcileTrigger);
    this.schedulerViews = schedulerViews;
    this.statuses = new StatusWriter<>(mapper, writer, LocalQueueStatus.class);
    this.clock = clock;
    this.events = new PerGenerationEvents(eventNotifier);
  }

  @Override
  protected Step reconcileObject(LocalQueue queue) {
    if (queue.isMarkedForDeletion()) {
      return new Step.Done();
    }
    events.emit(queue, "Misconfigured", LocalQueueMapper.faults(queue));
    return schedulerViews
        .localQueue(LocalQueueMapper.id(queue))
        .map(view -> writeStatus(queue, view))
        .orElseGet(Step.Done::new);
  }

  private Step writeStatus(LocalQueue queue, LocalQueueView view) {
    return statuses
        .write(
            queue,
            standing ->
                QueueStatuses.localQueue(view, generation(queue), standing, clock.instant()))
        .map(outcome -> after(queue, outcome))
        .orElseGet(Step.Done::new);
  }

  @Override
  protected void forget(LocalQueue queue) {
    statuses.forget(queue);
    events.forget(queue);
  }
}
