package dev.sluice.core.scheduling;

import dev.sluice.core.model.FairSharing;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.scheduling.preemption.FairPreemption;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The policy of fair sharing: the lowest share first, and preemption of the highest share. */
public final class FairSharingPolicy implements SchedulingPolicy {

  private final OrderingRules rules;
  private final FairShareCalculator shares;
  private final WorkloadOrdering ordering;
  private final PreemptionStrategy preemption;

  /**
   * Creates the policy.
   *
   * @param parameters parameters of fair sharing
   * @param rules whether preemptors come first, and whether priority counts
   * @param pairs the numbers of the pairs in the quota trees
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   */
  public FairSharingPolicy(
      FairSharing parameters,
      OrderingRules rules,
      FlavorResourceIndex pairs,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    this.rules = rules;
    this.shares = new FairShareCalculator(pairs);
    this.ordering = new FairSharingOrdering(shares, parameters.nonBorrowingFirst(), rules);
    this.preemption = new FairPreemption(parameters, shares, queues);
  }

  @Override
  public WorkloadOrdering ordering() {
    return ordering;
  }

  @Override
  public boolean recomputesTargets() {
    return rules.recomputesTargets();
  }

  @Override
  public PreemptionStrategy preemption() {
    return preemption;
  }

  /** Empty: the order depends on the shares, which change with every admission of the cycle. */
  @Override
  public Optional<AdmissionForecast.Order> forecastOrder() {
    return Optional.empty();
  }

  @Override
  public Optional<DominantResourceShare> share(QuotaNode node) {
    return Optional.of(shares.of(node));
  }
}
