package dev.sluice.core.engine;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.SchedulingCycle.Admissions;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets nobody in before the pods of all who were admitted are ready
 * (docs/scheduling-semantics.md#the-cycle). Once somebody was turned away who fits, it is shut:
 * there are no cycles until everybody is ready.
 */
final class PodsReadyGate {

  private final boolean required;
  private final Set<WorkloadEntry> unready = new LinkedHashSet<>();
  private @Nullable QueuedWorkload turnedAway;
  private @Nullable Explanation reason;

  /**
   * A gate.
   *
   * @param required whether anybody waits for pods; otherwise it is always open
   */
  PodsReadyGate(boolean required) {
    this.required = required;
  }

  /** Some pods of an admitted Workload are not ready, or that is over. */
  void awaits(WorkloadEntry entry, boolean podsOfIt) {
    if (!required) {
      return;
    }
    if (podsOfIt) {
      unready.add(entry);
    } else {
      unready.remove(entry);
    }
    if (unready.isEmpty()) {
      turnedAway = null;
      reason = null;
    }
  }

  /** How many a cycle may admit. */
  Admissions admissions() {
    if (!required) {
      return Admissions.ANY;
    }
    return unready.isEmpty() ? Admissions.ONE : Admissions.NONE;
  }

  /** One who fits was turned away. */
  void close(QueuedWorkload item, Explanation explanation) {
    turnedAway = item;
    reason = explanation;
  }

  /** Whether there are to be no cycles until everybody is ready. */
  boolean isClosed() {
    return turnedAway != null && !unready.isEmpty();
  }

  /** Why this one waits, if it was turned away here. */
  @Nullable Explanation reason(QueuedWorkload item) {
    return item == turnedAway ? reason : null;
  }
}
