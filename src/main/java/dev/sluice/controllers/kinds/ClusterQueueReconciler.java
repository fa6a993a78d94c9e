package dev.sluice.controllers.kinds;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueueStatus;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.status.QueueStatuses;
import dev.sluice.controllers.translation.NotActedUpon;
import dev.sluice.controllers.translation.Reasons;
import dev.sluice.engine.ClusterQueueView;
import dev.sluice.engine.Views;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A ClusterQueue: held by its finalizer while Workloads hold its quota; its status is what the
 * engine says.
 */
final class ClusterQueueReconciler extends LeaderReconciler<ClusterQueue> {

  private final Views views;
  private final Predicate<String> holdsQuota;
  private final MergePatches writer;
  private final WrittenStatuses<ClusterQueueStatus> statuses;
  private final Remarks remarks;
  private final ConditionNotes notes;
  private final InstantSource clock;

  /**
   * A reconciler of ClusterQueues.
   *
   * @param holdsQuota whether any Workload holds quota of the ClusterQueue of this name, by what
   *     the API server says
   * @param notes what others say of ClusterQueues, to be shown as a condition
   */
  ClusterQueueReconciler(
      Leadership leadership,
      Signals<ClusterQueue> signals,
      Views views,
      Predicate<String> holdsQuota,
      MergePatches writer,
      ObjectMapper mapper,
      Notices notices,
      ConditionNotes notes,
      InstantSource clock) {
    super(leadership, signals);
    this.views = views;
    this.holdsQuota = holdsQuota;
    this.writer = writer;
    this.statuses = new WrittenStatuses<>(mapper, writer, ClusterQueueStatus.class);
    this.remarks = new Remarks(notices);
    this.notes = notes;
    this.clock = clock;
  }

  @Override
  protected Step step(ClusterQueue queue) {
    Optional<ClusterQueueView> view = views.clusterQueue(queue.getMetadata().getName());
    if (queue.isMarkedForDeletion()) {
      if (!Finalizers.present(queue)) {
        return new Step.Done();
      }
      if (view.isPresent() && isFree(view.get())) {
        return after(queue, writer.patch(queue, Finalizers.remove(queue)));
      }
    } else {
      remarks.say(queue, NotActedUpon.REASON, NotActedUpon.in(queue));
      if (!Finalizers.present(queue)
          && after(queue, writer.patch(queue, Finalizers.add(queue))) instanceof Step.Again again) {
        return again;
      }
    }
    return view.map(seen -> writeStatus(queue, seen)).orElseGet(Step.Done::new);
  }

  /** Nobody holds its quota, and nobody can get any more: the engine knows that it is ending. */
  private boolean isFree(ClusterQueueView view) {
    boolean closed =
        view.problems().stream().anyMatch(problem -> problem.reason().equals(Reasons.TERMINATING));
    return closed && view.reserving() == 0 && !holdsQuota.test(view.name());
  }

  private Step writeStatus(ClusterQueue queue, ClusterQueueView view) {
    return statuses
        .write(queue, standing -> wanted(queue, view, standing))
        .map(outcome -> after(queue, outcome))
        .orElseGet(Step.Done::new);
  }

  private ClusterQueueStatus wanted(
      ClusterQueue queue, ClusterQueueView view, @Nullable ClusterQueueStatus standing) {
    Instant now = clock.instant();
    ClusterQueueStatus seen = QueueStatuses.clusterQueue(view, generation(queue), standing, now);
    return seen.toBuilder()
        .conditions(notes.in(seen.conditions(), view.name(), generation(queue), now))
        .build();
  }

  @Override
  protected void forget(ClusterQueue queue) {
    statuses.forget(queue);
    remarks.forget(queue);
    notes.forget(queue.getMetadata().getName());
  }
}
