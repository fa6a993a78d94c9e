package dev.sluice.core.scheduling;

import dev.sluice.core.model.FairSharing;
import dev.sluice.core.queue.ActiveInOrder.HeapIterator;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.ClassicalPreemption;
import dev.sluice.core.scheduling.preemption.FairPreemption;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy;
import dev.sluice.core.waiting.AdmissionForecast;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.PriorityQueue;
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

  /**
   * How the heads of different ClusterQueues share quota: the order of a cycle, preemption with its
   * upper bound, and the forecast. The configuration selects one policy for all queues; {@link
   * SchedulingPolicies} lists them. How one ClusterQueue orders its own Workloads is a {@link
   * dev.sluice.core.queue.QueueingPolicy}.
   *
   * <p>After a release of quota, an inadmissible class is evaluated again only when a missing
   * amount is available, or when {@link PreemptionStrategy#upperBound} allows it. At most one class
   * of each queue is evaluated in a cycle, and {@link #forecastOrder} may leave out some of these.
   * So a policy is right only if its bound is never too low and its forecast is exact.
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
     * The order of a cycle in which no Workload has a choice of flavors and none needs preemption.
     * It must be the order of {@link #ordering}. Empty if the order depends on more than the heads
     * and their borrow levels, such as on usage that earlier entries of the cycle add: then every
     * class that may fit is evaluated.
     */
    Optional<AdmissionForecast.Order> forecastOrder();

    /** The published share of a node; empty if the policy doesn't compute shares. */
    Optional<DominantResourceShare> share(QuotaNode node);
  }

  /**
   * The fair sharing order: a tournament in each tree (docs/scheduling-semantics.md#the-cycle). At
   * each cohort the winners of its children compete, by the share that the child would have with
   * the Workload. The usage of a winner changes only the shares of its ancestors; all other
   * contests stay valid.
   */
  public static final class FairSharingOrdering implements WorkloadOrdering {

    private final FairShareCalculator shares;
    private final Comparator<Contender> order;

    /**
     * Creates the order.
     *
     * @param nonBorrowingFirst whether those who don't borrow come before those who do
     * @param rules whether preemptors come first, and whether priority counts
     */
    public FairSharingOrdering(
        FairShareCalculator shares, boolean nonBorrowingFirst, OrderingRules rules) {
      this.shares = shares;
      Comparator<NominatedWorkload> byPreemption = rules.byPreemption();
      Comparator<NominatedWorkload> byPriorityAndAge = rules.byPriorityAndAge();
      // Written out, because a cycle compares contenders more often than anything else.
      this.order =
          (one, two) -> {
            int preempting = byPreemption.compare(one.entry, two.entry);
            if (preempting != 0) {
              return preempting;
            }
            if (nonBorrowingFirst && one.borrowing != two.borrowing) {
              return one.borrowing ? 1 : -1;
            }
            int byShare = one.dominantResourceShare.compareTo(two.dominantResourceShare);
            return byShare != 0 ? byShare : byPriorityAndAge.compare(one.entry, two.entry);
          };
    }

    /** A contender at a cohort, with the share of the child of the cohort that it comes from. */
    private record Contender(
        NominatedWorkload entry,
        DominantResourceShare dominantResourceShare,
        boolean borrowing,
        @Nullable Contest below) {}

    /** The contenders at one cohort. */
    private final class Contest {
      private final QuotaNode cohort;
      private final List<Contest> children = new ArrayList<>();
      private final PriorityQueue<Contender> contenders = new PriorityQueue<>(order);

      Contest(QuotaNode cohort) {
        this.cohort = cohort;
      }

      void enter(NominatedWorkload entry) {
        contenders.add(contender(entry, entry.queue().node(), null));
      }

      void fill() {
        for (Contest child : children) {
          child.fill();
          enterWinnerOf(child);
        }
      }

      private void enterWinnerOf(Contest child) {
        Contender winner = child.contenders.peek();
        if (winner != null) {
          contenders.add(contender(winner.entry, child.cohort, child));
        }
      }

      /**
       * Removes the winner, whose usage was added, and adds the next contender from the same child.
       */
      void advance() {
        Contest below = contenders.remove().below;
        if (below != null) {
          below.advance();
          enterWinnerOf(below);
        }
      }
    }

    private Contender contender(NominatedWorkload entry, QuotaNode child, @Nullable Contest below) {
      QuotaNode node = entry.queue().node();
      List<PairAmount> usage = entry.assignment().usage();
      node.keepShares();
      for (PairAmount request : usage) {
        node.add(request.pair(), request.amount());
      }
      DominantResourceShare dominantResourceShare = shares.of(child);
      boolean borrowing = false;
      for (PairAmount request : usage) {
        borrowing |= child.borrowing(request.pair());
      }
      for (PairAmount request : usage) {
        node.remove(request.pair(), request.amount());
      }
      node.restoreShares();
      return new Contender(entry, dominantResourceShare, borrowing, below);
    }

    @Override
    public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
      Map<QuotaNode, Contest> contests = new LinkedHashMap<>();
      List<Contest> roots = new ArrayList<>();
      List<NominatedWorkload> withoutCohort = new ArrayList<>();
      for (NominatedWorkload entry : nominated) {
        QuotaNode cohort = entry.queue().node().parent();
        if (cohort == null) {
          withoutCohort.add(entry);
        } else {
          contest(cohort, contests, roots).enter(entry);
        }
      }
      roots.forEach(Contest::fill);
      return new Tournament(withoutCohort, roots, nominated.size());
    }

    private Contest contest(
        QuotaNode cohort, Map<QuotaNode, Contest> contests, List<Contest> roots) {
      Contest known = contests.get(cohort);
      if (known != null) {
        return known;
      }
      Contest contest = new Contest(cohort);
      contests.put(cohort, contest);
      QuotaNode above = cohort.parent();
      if (above == null) {
        roots.add(contest);
      } else {
        contest(above, contests, roots).children.add(contest);
      }
      return contest;
    }

    /** Returns Workloads without cohort first, then tree by tree. */
    private static final class Tournament implements Iterator<NominatedWorkload> {
      private final Iterator<NominatedWorkload> withoutCohort;
      private final Iterator<Contest> roots;
      private @Nullable Contest current;
      private int remaining;

      Tournament(List<NominatedWorkload> withoutCohort, List<Contest> roots, int size) {
        this.withoutCohort = withoutCohort.iterator();
        this.roots = roots.iterator();
        this.remaining = size;
      }

      @Override
      public boolean hasNext() {
        return remaining > 0;
      }

      @Override
      public NominatedWorkload next() {
        if (remaining == 0) {
          throw new NoSuchElementException("every nominated Workload was returned");
        }
        remaining--;
        if (withoutCohort.hasNext()) {
          return withoutCohort.next();
        }
        Contest tree = current;
        if (tree != null) {
          tree.advance();
        }
        while (tree == null || tree.contenders.isEmpty()) {
          tree = roots.next();
        }
        current = tree;
        return tree.contenders.element().entry;
      }
    }
  }
}
