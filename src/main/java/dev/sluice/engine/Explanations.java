package dev.sluice.engine;

import dev.sluice.model.Explanation;
import dev.sluice.model.PendingReason;
import dev.sluice.model.QueueProblem;
import dev.sluice.queue.PendingItem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a Workload waits, found where it stands (Workload life cycle, section 2). */
final class Explanations {

  private final Registry registry;
  private final Ready ready;
  private final ReadinessGate gate;

  Explanations(Registry registry, Ready ready, ReadinessGate gate) {
    this.registry = registry;
    this.ready = ready;
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
    ClusterQueueState queue = registry.clusterQueues.get(name);
    if (queue == null || queue.spec == null) {
      return misconfigured("ClusterQueue " + name + " doesn't exist");
    }
    if (!queue.active()) {
      return suspended("ClusterQueue " + name + " is inactive: " + messages(queue.problems));
    }
    PendingItem item = entry.item;
    if (item == null) {
      return null;
    }
    Explanation turnedAway = gate.why(item);
    if (turnedAway != null) {
      return turnedAway;
    }
    Explanation blocked = ready.blockedWhy(name, item);
    return blocked != null ? blocked : item.explanation();
  }

  private static String messages(List<QueueProblem> problems) {
    return String.join("; ", problems.stream().map(QueueProblem::message).toList());
  }
}
