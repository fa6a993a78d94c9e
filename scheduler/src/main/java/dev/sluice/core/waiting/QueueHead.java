package dev.sluice.core.waiting;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.QueuedWorkload;
import org.jspecify.annotations.Nullable;

/** A queue and its head, which a cycle evaluates. */
public record QueueHead(ClusterQueueCache queue, QueuedWorkload item) {

  /**
   * What the head asks for, if free quota alone decides whether it gets that; null where flavors or
   * places are chosen, or another limit counts.
   */
  public ResourceDemand.@Nullable Fixed plainRequest() {
    ResourceDemand demand = item.equivalenceClass().demand(queue);
    return demand.needsTopology()
            || demand.guaranteed()
            || item.flavorProgress() != null
            || queue.spec().rules().blocksUntilReady()
            || queue.node().limitsWorkloads()
        ? null
        : demand.fixed();
  }
}
