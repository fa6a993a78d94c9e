package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.scheduling.preemption.ClassicalPreemption;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The policy without fair sharing: less borrowing first, and preemption by priority. */
public final class ClassicalPolicy implements SchedulingPolicy {

  private final OrderingRules rules;
  private final WorkloadOrdering ordering;
  private final PreemptionStrategy preemption;

  /**
   * Creates the policy.
   *
   * @param rules whether preemptors come first, and whether priority counts
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   */
  public ClassicalPolicy(
      OrderingRules rules, Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    this.rules = rules;
    this.ordering = new ClassicalOrdering(rules);
    this.preemption = new ClassicalPreemption(queues);
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

  /** Empty with rules other than the defaults, which the forecast does not know. */
  @Override
  public Optional<AdmissionForecast.Order> forecastOrder() {
    return rules.equals(OrderingRules.DEFAULT)
        ? Optional.of(ClassicalOrdering::compare)
        : Optional.empty();
  }

  @Override
  public Optional<DominantResourceShare> share(QuotaNode node) {
    return Optional.empty();
  }
}
