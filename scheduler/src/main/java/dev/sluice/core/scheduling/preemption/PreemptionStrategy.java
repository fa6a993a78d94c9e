package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.CycleStatistics.TimedRule;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.PreemptionUpperBound;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Selects the Workloads that a Workload preempts, and bounds what preemption can free. The
 * scheduling policy chooses the strategy.
 */
public interface PreemptionStrategy {

  /**
   * The targets of a successful search.
   *
   * @param preemptionTargets the Workloads to evict; at least one
   * @param borrowLevel the level from which the preemptor borrows after the eviction
   */
  record Found(List<PreemptionTarget> preemptionTargets, int borrowLevel) {
    public Found {
      preemptionTargets = List.copyOf(preemptionTargets);
    }
  }

  /**
   * The Workloads to evict so that the preemptor fits; empty if no allowed eviction makes it fit.
   * The usage of the quota tree is unchanged when the method returns.
   */
  Optional<Found> find(PreemptionRequest preemptionRequest);

  /**
   * The same as {@link #find}, to be called only while the usage of the tree is the sum of its
   * reservations: the answer may be one that was given before.
   */
  default Optional<Found> findAsReserved(PreemptionRequest preemptionRequest) {
    return find(preemptionRequest);
  }

  /**
   * The targets to evict in place of those that were found, where Workloads of the tree save their
   * work: those of which less work is lost.
   */
  default Found withLeastWork(PreemptionRequest preemptionRequest, Found found) {
    return LostWork.least(this, preemptionRequest, found);
  }

  /**
   * Forgets answers that were given before: the trees are rebuilt, or the order of targets changed.
   */
  default void forget() {}

  /**
   * Whether {@link #find} has the same result for a request as for this needed pair of it alone,
   * because the other pairs leave it no choice to make.
   */
  default boolean isDecidedBy(PreemptionRequest preemptionRequest, int pair) {
    return false;
  }

  /**
   * A bound on what {@link #find} could free in a tree, for its current usage.
   *
   * @param root the root of the tree
   */
  PreemptionUpperBound upperBound(QuotaNode root);

  /**
   * Whether a Workload that nobody can evict reserves a needed pair in a queue whose Workloads the
   * preemptor may preempt.
   */
  boolean meetsNotEvictable(PreemptionRequest preemptionRequest);

  /** The Workloads that would be candidates, if rules didn't protect them from the preemptor. */
  Protected protectedFrom(PreemptionRequest preemptionRequest);

  /**
   * Workloads that rules protect for some time.
   *
   * @param firstUntil when the first of them becomes a candidate, in microseconds since the epoch;
   *     {@link Long#MAX_VALUE} if there is none
   * @param rules the rules that protect them
   */
  record Protected(long firstUntil, Set<TimedRule> rules) {

    /** None. */
    public static final Protected NONE = new Protected(Long.MAX_VALUE, Set.of());

    /** These and others. */
    Protected and(Protected others) {
      if (others.rules.isEmpty()) {
        return this;
      }
      if (rules.isEmpty()) {
        return others;
      }
      Set<TimedRule> all = EnumSet.noneOf(TimedRule.class);
      all.addAll(rules);
      all.addAll(others.rules);
      return new Protected(Math.min(firstUntil, others.firstUntil), all);
    }

    /** A holder of a queue if a rule protects it; none otherwise. */
    static Protected of(QuotaHolder quotaHolder, ClusterQueueCache queue, Preemptor preemptor) {
      PreemptionRules rules = queue.node().preemptionRules();
      Long again = preemptor.repeated().get(quotaHolder.id().uid());
      if (again != null) {
        return new Protected(again, Set.of(TimedRule.REPEATED_PREEMPTION));
      }
      long until = quotaHolder.protectedUntilMicros(rules, preemptor.exempt());
      if (until <= preemptor.nowMicros()) {
        return NONE;
      }
      boolean often = quotaHolder.protectedUntilMicros(rules, true) > preemptor.nowMicros();
      return new Protected(
          until, Set.of(often ? TimedRule.MAX_PREEMPTIONS : TimedRule.MIN_RUN_TIME));
    }
  }

  /** Whether a queue may preempt while its request borrows, whatever its other policies. */
  default boolean mayPreemptBorrowing(ClusterQueueCache queue) {
    return queue.spec().preemption().borrowWithinCohort()
        || queue.spec().rules().preemptionConfig().isPresent();
  }
}
