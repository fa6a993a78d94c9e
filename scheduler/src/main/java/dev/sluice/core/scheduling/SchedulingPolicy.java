package dev.sluice.core.scheduling;

import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import dev.sluice.core.waiting.AdmissionForecast;
import java.util.Optional;

/**
 * How the heads of different ClusterQueues share quota: the order of a cycle, preemption with its
 * upper bound, and the forecast. The configuration selects one policy for all queues; {@link
 * SchedulingPolicies} lists them. How one ClusterQueue orders its own Workloads is a {@link
 * dev.sluice.core.queue.QueueingPolicy}.
 *
 * <p>After a release of quota, an inadmissible class is evaluated again only when a missing amount
 * is available, or when {@link PreemptionStrategy#upperBound} allows it. At most one class of each
 * queue is evaluated in a cycle, and {@link #forecastOrder} may leave out some of these. So a
 * policy is right only if its bound is never too low and its forecast is exact.
 */
public interface SchedulingPolicy {

  /** The order in which a cycle processes nominated Workloads. */
  WorkloadOrdering ordering();

  /**
   * Whether a Workload with a preemption target that an earlier one of the cycle has is assigned
   * again within the cycle.
   */
  boolean recomputesTargets();

  /** Selects preemption targets, and bounds the quota that preemption can free. */
  PreemptionStrategy preemption();

  /**
   * The order of a cycle in which no Workload has a choice of flavors and none needs preemption. It
   * must be the order of {@link #ordering}. Empty if the order depends on more than the heads and
   * their borrow levels, such as on usage that earlier entries of the cycle add: then every class
   * that may fit is evaluated.
   */
  Optional<AdmissionForecast.Order> forecastOrder();

  /** The published share of a node; empty if the policy doesn't compute shares. */
  Optional<DominantResourceShare> share(QuotaNode node);
}
