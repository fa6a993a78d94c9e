package dev.sluice.core.scheduling;

import dev.sluice.core.model.FairSharing;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The scheduling policies; a new one is registered here. */
public final class SchedulingPolicies {

  private SchedulingPolicies() {}

  /**
   * The policy that the configuration selects.
   *
   * @param sharing parameters of fair sharing; empty: the classical policy
   * @param order whether preemptors come first, and whether priority counts between queues
   * @param pairs the numbers of the pairs in the quota trees
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   */
  public static SchedulingPolicy of(
      Optional<FairSharing> sharing,
      OrderingRules order,
      FlavorResourceIndex pairs,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    return sharing
        .<SchedulingPolicy>map(
            parameters -> new FairSharingPolicy(parameters, order, pairs, queues))
        .orElseGet(() -> new ClassicalPolicy(order, queues));
  }
}
