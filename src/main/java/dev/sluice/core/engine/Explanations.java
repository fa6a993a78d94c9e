package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QueueingPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds out why a Workload is pending (docs/workload-semantics.md#reasons-for-waiting). */
final class Explanations {

  private static final String PAUSES =
      "the queue is RoundRobin: it is tried again after a pause, not when quota is released";

  private static final String PAUSES_OR_RELEASE =
      "the queue is StrictPriority: it is tried again after a pause, or when quota of the queue is"
          + " released";

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

  /** The explanation of a Workload that was tried in vain, with what brings it back. */
  static Explanation paused(Explanation inVain, QueueingPolicy policy) {
    String detail = policy.releaseEndsPauses() ? PAUSES_OR_RELEASE : PAUSES;
    return new Explanation(
        inVain.reason(),
        inVain.attempts(),
        inVain.detail().isEmpty() ? detail : inVain.detail() + "; " + detail,
        inVain.gated());
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
    if (item == null) {
      return null;
    }
    Explanation rejectedByGate = gate.reason(item);
    if (rejectedByGate != null) {
      return rejectedByGate;
    }
    Explanation blockExplanation = activeQueues.blockExplanation(name, item);
    return blockExplanation != null ? blockExplanation : item.explanation();
  }

  private static String messages(List<InactiveReason> problems) {
    return String.join("; ", problems.stream().map(InactiveReason::message).toList());
  }
}
