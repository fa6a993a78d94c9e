package dev.sluice.core.engine;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.queue.QueuedWorkload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a Workload waits, found where it stands (docs/workload-semantics.md#reasons-for-waiting). */
final class Explanations {

  private final SpecRegistry specRegistry;
  private final ActiveQueues activeQueues;
  private final PodsReadyGate gate;

  Explanations(SpecRegistry specRegistry, ActiveQueues activeQueues, PodsReadyGate gate) {
    this.specRegistry = specRegistry;
    this.activeQueues = activeQueues;
    this.gate = gate;
  }

  static Explanation misconfigured(String detail) {
    return new Explanation(PendingReason.MISCONFIGURED, List.of(), detail);
  }

  private static Explanation suspended(String detail) {
    return new Explanation(PendingReason.SUSPENDED, List.of(), detail);
  }

  /** Null when it waits for its turn and nothing was found out yet, or when it doesn't wait. */
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
    if (item == null) {
      return null;
    }
    Explanation turnedAway = gate.reason(item);
    if (turnedAway != null) {
      return turnedAway;
    }
    Explanation blocked = activeQueues.blockedWhy(name, item);
    return blocked != null ? blocked : item.explanation();
  }

  private static String messages(List<InactiveReason> problems) {
    return String.join("; ", problems.stream().map(InactiveReason::message).toList());
  }
}
