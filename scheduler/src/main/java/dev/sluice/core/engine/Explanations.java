package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds out why a Workload is pending (docs/workload-semantics.md#reasons-for-waiting). */
final class Explanations {

  private final SpecRegistry specRegistry;
  private final WaitingWorkloads waiting;

  Explanations(SpecRegistry specRegistry, WaitingWorkloads waiting) {
    this.specRegistry = specRegistry;
    this.waiting = waiting;
  }

  static Explanation misconfigured(String detail) {
    return new Explanation(PendingReason.MISCONFIGURED, List.of(), detail);
  }

  private static Explanation suspended(String detail) {
    return new Explanation(PendingReason.SUSPENDED, List.of(), detail);
  }

  /**
   * The explanation for a pending Workload; null when the Workload is not pending, or was not
   * evaluated yet.
   */
  @Nullable Explanation of(WorkloadEntry entry) {
    if (entry.stage != WorkloadEntry.Stage.PENDING) {
      return null;
    }
    LocalQueueState localQueue = entry.localQueue;
    if (!localQueue.exists()) {
      return misconfigured("LocalQueue " + localQueue.id.name() + " doesn't exist");
    }
    if (localQueue.stopped()) {
      return suspended("LocalQueue " + localQueue.id.name() + " is stopped");
    }
    String name = localQueue.clusterQueue();
    ClusterQueueState queue = specRegistry.clusterQueues.get(name);
    if (queue == null || queue.spec == null) {
      return misconfigured("ClusterQueue " + name + " doesn't exist");
    }
    if (!queue.active()) {
      return suspended("ClusterQueue " + name + " is inactive: " + messages(queue.problems));
    }
    QueuedWorkload item = entry.item;
    return item == null ? null : waiting.explanation(name, item);
  }

  private static String messages(List<InactiveReason> problems) {
    return String.join("; ", problems.stream().map(InactiveReason::message).toList());
  }
}
