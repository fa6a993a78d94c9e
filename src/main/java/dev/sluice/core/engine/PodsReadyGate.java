package dev.sluice.core.engine;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.SchedulingCycle.Admissions;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Blocks admission while pods of admitted Workloads are not ready
 * (docs/scheduling-semantics.md#the-cycle). The gate closes when a cycle rejects a Workload that
 * fits; then no cycle runs until all pods are ready.
 */
final class PodsReadyGate {

  private final boolean required;
  private final Set<WorkloadEntry> unready = new LinkedHashSet<>();
  private @Nullable QueuedWorkload rejected;
  private @Nullable Explanation reason;

  /**
   * Creates an open gate.
   *
   * @param required whether admission waits for pods; if not, the gate is always open
   */
  PodsReadyGate(boolean required) {
    this.required = required;
  }

  /** Records whether pods of an admitted Workload are not ready. */
  void setAwaitsPods(WorkloadEntry entry, boolean awaitsPods) {
    if (!required) {
      return;
    }
    if (awaitsPods) {
      unready.add(entry);
    } else {
      unready.remove(entry);
    }
    if (unready.isEmpty()) {
      rejected = null;
      reason = null;
    }
  }

  /** How many Workloads a cycle may admit. */
  Admissions admissions() {
    if (!required) {
      return Admissions.ANY;
    }
    return unready.isEmpty() ? Admissions.ONE : Admissions.NONE;
  }

  /** Closes the gate, because this Workload fits and was rejected. */
  void close(QueuedWorkload item, Explanation explanation) {
    rejected = item;
    reason = explanation;
  }

  /** Whether no cycle runs until all pods are ready. */
  boolean isClosed() {
    return rejected != null && !unready.isEmpty();
  }

  /** Why this Workload is pending, if the gate rejected it; otherwise null. */
  @Nullable Explanation reason(QueuedWorkload item) {
    return item == rejected ? reason : null;
  }
}
