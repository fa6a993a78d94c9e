package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.QueuedWorkload;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Blocks admission while pods of admitted Workloads are not ready
 * (docs/scheduling-semantics.md#the-cycle). The gate closes when a cycle rejects a Workload that
 * fits; then no cycle runs until all pods are ready.
 */
final class PodsReadyGate {

  private final boolean required;

  /** UIDs of admitted Workloads whose pods are not ready. */
  private final Set<String> unready = new HashSet<>();

  /** The Workload that was rejected; null if there is none, or if it left its queue. */
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

  /** What closed the gate; empty while no cycle rejected a Workload. */
  Optional<WaitingExport.RejectedExport> export(ExportedNames names) {
    return Optional.ofNullable(reason)
        .map(
            why ->
                new WaitingExport.RejectedExport(
                    Optional.ofNullable(rejected)
                        .filter(names::isQueued)
                        .map(item -> item.id().uid()),
                    why));
  }

  /** Closes the gate as it was, after it was told whose pods are not ready. */
  void restore(WaitingExport.RejectedExport exported, ExportedNames names) {
    rejected = exported.uid().map(names::queued).orElse(null);
    reason = exported.explanation();
  }

  /** Records whether pods of an admitted Workload are not ready. */
  void setAwaitsPods(WorkloadId admitted, boolean awaitsPods) {
    if (!required) {
      return;
    }
    if (awaitsPods) {
      unready.add(admitted.uid());
    } else {
      unready.remove(admitted.uid());
    }
    if (unready.isEmpty()) {
      rejected = null;
      reason = null;
    }
  }

  /** How many Workloads a cycle may admit. */
  CycleHeads.Admissions admissions() {
    if (!required) {
      return CycleHeads.Admissions.ANY;
    }
    return unready.isEmpty() ? CycleHeads.Admissions.ONE : CycleHeads.Admissions.NONE;
  }

  /** Closes the gate, because this Workload fits and was rejected. */
  void close(QueuedWorkload item, Explanation explanation) {
    rejected = item;
    reason = explanation;
  }

  /** Whether no cycle runs until all pods are ready. */
  boolean isClosed() {
    return reason != null && !unready.isEmpty();
  }

  /** Why this Workload is pending, if the gate rejected it; otherwise null. */
  @Nullable Explanation reason(QueuedWorkload item) {
    return item == rejected ? reason : null;
  }
}
