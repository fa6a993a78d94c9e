package dev.sluice.core.scheduling;

import dev.sluice.core.model.FairSharing;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.HeapIterator;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.scheduling.preemption.ClassicalPreemption;
import dev.sluice.core.scheduling.preemption.FairPreemption;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import dev.sluice.core.waiting.AdmissionForecast;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
   * @param ofAllTrees the queues of all trees
   */
  public static SchedulingPolicy of(
      Optional<FairSharing> sharing,
      OrderingRules order,
      FlavorResourceIndex pairs,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      Supplier<Stream<ClusterQueueCache>> ofAllTrees) {
    return sharing
        .<SchedulingPolicy>map(
            parameters -> new FairSharingPolicy(parameters, order, pairs, queues, ofAllTrees))
        .orElseGet(() -> new ClassicalPolicy(order, queues, ofAllTrees));
  }

  /** The policy without fair sharing: less borrowing first, and preemption by priority. */
  public static final class ClassicalPolicy implements SchedulingPolicy {

    private final OrderingRules rules;
    private final WorkloadOrdering ordering;
    private final PreemptionStrategy preemption;

    /**
     * Creates the policy.
     *
     * @param rules whether preemptors come first, and whether priority counts
     * @param queues the queue at a node of the quota tree; null if the queue was deleted
     * @param ofAllTrees the queues of all trees
     */
    public ClassicalPolicy(
        OrderingRules rules,
        Function<QuotaNode, @Nullable ClusterQueueCache> queues,
        Supplier<Stream<ClusterQueueCache>> ofAllTrees) {
      this.rules = rules;
      this.ordering = new ClassicalOrdering(rules);
      this.preemption = new ClassicalPreemption(queues, ofAllTrees);
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

    /**
     * The classical order: less borrowing first, then by priority and by age; the UID breaks ties
     * (docs/scheduling-semantics.md#the-cycle).
     */
    public static final class ClassicalOrdering implements WorkloadOrdering {

      private final Comparator<NominatedWorkload> order;

      /** The classical order, as far as the rules leave it. */
      public ClassicalOrdering(OrderingRules rules) {
        this.order =
            rules.equals(OrderingRules.DEFAULT)
                ? ClassicalOrdering::compare
                : rules
                    .byPreemption()
                    .thenComparingInt(entry -> entry.assignment().borrowLevel())
                    .thenComparing(rules.byPriorityAndAge());
      }

      private static int compare(NominatedWorkload one, NominatedWorkload two) {
        return compare(
            one.item(), one.assignment().borrowLevel(), two.item(), two.assignment().borrowLevel());
      }

      /**
       * Compares two heads by the levels from which they must borrow, then by priority, age and
       * UID: the order of {@link OrderingRules#DEFAULT}.
       */
      static int compare(
          QueuedWorkload one, int oneBorrowLevel, QueuedWorkload two, int twoBorrowLevel) {
        int byLevel = Integer.compare(oneBorrowLevel, twoBorrowLevel);
        return byLevel != 0 ? byLevel : QueuedWorkload.BY_PRIORITY_AND_AGE.compare(one, two);
      }

      /** A heap: a cycle may end long before the last of many heads. */
      @Override
      public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
        HeapIterator<NominatedWorkload> heap = new HeapIterator<>(order);
        nominated.forEach(heap::add);
        return heap;
      }
    }
  }

  /** The policy of fair sharing: the lowest share first, and preemption of the highest share. */
  public static final class FairSharingPolicy implements SchedulingPolicy {

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
     * @param ofAllTrees the queues of all trees
     */
    public FairSharingPolicy(
        FairSharing parameters,
        OrderingRules rules,
        FlavorResourceIndex pairs,
        Function<QuotaNode, @Nullable ClusterQueueCache> queues,
        Supplier<Stream<ClusterQueueCache>> ofAllTrees) {
      this.rules = rules;
      this.shares = new FairShareCalculator(pairs);
      this.ordering = new FairSharingOrdering(shares, parameters.nonBorrowingFirst(), rules);
      this.preemption = new FairPreemption(parameters, shares, queues, ofAllTrees);
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
}
