package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.CycleExplanations;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds reasons that keep a Workload from being evaluated, whatever the quota
 * (docs/scheduling-semantics.md#what-is-pending).
 */
final class EligibilityCheck {

  private final SpecRegistry specRegistry;

  EligibilityCheck(SpecRegistry specRegistry) {
    this.specRegistry = specRegistry;
  }

  /** The reason that keeps a Workload from being evaluated; empty for an eligible Workload. */
  Optional<Explanation> of(QueuedWorkload item, ClusterQueueCache queue) {
    Optional<Explanation> mismatch = namespaceMismatch(item, queue);
    if (mismatch.isPresent()) {
      return mismatch;
    }
    return item.defect().isPresent()
        ? item.defect().map(Explanations::misconfigured)
        : atWorkloadLimit(item);
  }

  private Optional<Explanation> atWorkloadLimit(QueuedWorkload item) {
    if (specRegistry.limitedLocalQueues == 0) {
      return Optional.empty();
    }
    LocalQueueState localQueue = specRegistry.localQueues.get(item.localQueue());
    return localQueue != null && localQueue.atWorkloadLimit()
        ? Optional.of(
            new Explanation(
                PendingReason.WAITING_FOR_QUOTA,
                List.of(),
                "LocalQueue "
                    + localQueue.id.name()
                    + " has as many workloads with quota as "
                    + CycleExplanations.WORKLOAD_LIMIT
                    + " allows: "
                    + localQueue.reserving))
        : Optional.empty();
  }

  private Optional<Explanation> namespaceMismatch(QueuedWorkload item, ClusterQueueCache queue) {
    String namespace = item.id().namespace();
    Map<String, String> labels = specRegistry.namespaces.get(namespace);
    ClusterQueueSpec spec = queue.spec();
    if (labels == null) {
      return Optional.of(Explanations.misconfigured("namespace " + namespace + " doesn't exist"));
    }
    return !spec.namespaceSelector().matches(labels)
        ? Optional.of(
            Explanations.misconfigured(
                "namespace "
                    + namespace
                    + " doesn't match the namespaceSelector of ClusterQueue "
                    + spec.name()))
        : Optional.empty();
  }

  /**
   * Whether an ineligible Workload blocks its queue: it does where a head can block the queue,
   * unless its namespace is the reason.
   */
  boolean blocksQueue(QueuedWorkload ineligible, ClusterQueueCache queue) {
    return queue.queueing().headBlocks() && namespaceMismatch(ineligible, queue).isEmpty();
  }
}
