package dev.sluice.workload.writing;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;

/**
 * Listener for dispatch events, called after the write succeeded; records events, logs and metrics.
 */
public interface AdmissionObserver {

  /**
   * Called after quota was reserved for a Workload. Must return quickly.
   *
   * @param before the Workload that the decision was based on
   * @param admitted whether the Workload was admitted in the same write, because no admission check
   *     is required
   */
  default void reserved(Decision.Admit decision, CachedWorkload before, boolean admitted) {}

  /**
   * Called after a Workload was evicted for another one. Must return quickly.
   *
   * @param before the target that the decision was based on
   * @param message the message of the conditions
   */
  default void preempted(
      Decision.Preempt decision, Decision.Target target, CachedWorkload before, String message) {}

  /**
   * Called after the job of a target was asked to save its work before it is evicted. Must return
   * quickly.
   *
   * @param grace how long the job may take
   */
  default void checkpointRequested(
      Decision.Preempt decision, Decision.Target target, Duration grace) {}

  /** Called after places were written that a second pass found. Must return quickly. */
  default void placed(PlacementDecision.Place decision) {}

  /** Called when a second pass found no places. Must return quickly. */
  default void unplaced(PlacementDecision.GiveUp decision) {}

  /** Called after a Workload was evicted because of failed nodes. Must return quickly. */
  default void nodesFailed(CachedWorkload before, String message) {}

  /** Called when the reason for waiting is known, and is to be written. Must return quickly. */
  default void explained(PendingExplanation decision, CachedWorkload before) {}
}
