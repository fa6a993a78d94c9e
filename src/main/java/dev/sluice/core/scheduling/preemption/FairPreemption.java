package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.PreemptionReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.TargetQueueOrdering.TargetQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Preemption by fair shares (docs/scheduling-semantics.md#fair-sharing): victims come from where
 * most is, as long as the preemptor's side ends up with less than the other had, or with no more
 * than it keeps.
 */
public final class FairPreemption implements PreemptionStrategy {

  private final FairSharing rules;
  private final FairShareCalculator shares;
  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;

  /**
   * The policy, for these queues.
   *
   * @param queues the queue at a node of the quota tree; null if it isn't declared any more
   */
  public FairPreemption(
      FairSharing rules,
      FairShareCalculator shares,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    this.rules = rules;
    this.shares = shares;
    this.queues = queues;
  }

  @Override
  public boolean mayPreemptBorrowing(ClusterQueueCache queue) {
    PreemptionPolicies policies = queue.spec().preemption();
    return policies.borrowWithinCohort()
        || policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  @Override
  public Optional<Found> find(PreemptionRequest preemptionRequest) {
    if (!preemptionRequest.queue().mayPreempt()) {
      return Optional.empty();
    }
    Search search = new Search(preemptionRequest);
    preemptionRequest.reserve();
    boolean fits = search.succeeds();
    preemptionRequest.unreserve();
    Found found = null;
    if (fits) {
      FillBack.apply(preemptionRequest, search.taken, true);
      found = new Found(search.taken, preemptionRequest.borrowLevel());
    }
    search.taken.reversed().forEach(PreemptionTarget::restoreUsage);
    return Optional.ofNullable(found);
  }

  /** One search; the preemptor's request counts as used meanwhile. */
  private final class Search {
    private final PreemptionRequest preemptionRequest;
    private final List<PreemptionTarget> taken = new ArrayList<>();

    /** Of each queue, the first whom the first strategy didn't allow. */
    private final Map<QuotaNode, CandidateIterator> kept = new HashMap<>();

    Search(PreemptionRequest preemptionRequest) {
      this.preemptionRequest = preemptionRequest;
    }

    boolean succeeds() {
      return first(rules.strategies().getFirst())
          || (rules.strategies().size() > 1 && second(rules.strategies().get(1)));
    }

    private @Nullable CandidateIterator candidates(QuotaNode node) {
      PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
      boolean never =
          node == preemptionRequest.queue().node()
              ? policies.withinClusterQueue() == WithinClusterQueue.NEVER
              : policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER;
      return never ? null : TargetQueueOrdering.line(preemptionRequest, node, queues);
    }

    private boolean first(Strategy strategy) {
      TargetQueueOrdering targetQueueOrdering =
          TargetQueueOrdering.of(shares, preemptionRequest, this::candidates);
      for (TargetQueue targetQueue = targetQueueOrdering.next();
          targetQueue != null;
          targetQueue = targetQueueOrdering.next()) {
        boolean gave;
        if (targetQueue.isOwn()) {
          gave = take(targetQueue, PreemptionReason.IN_CLUSTER_QUEUE);
        } else if (rules.reclaimsWithinNominal()
            && !preemptionRequest.isBorrowing(preemptionRequest.queue().node())) {
          gave = take(targetQueue, PreemptionReason.IN_COHORT_RECLAMATION);
        } else {
          gave = takeAllowed(targetQueue, strategy);
          if (!gave && endsWith(targetQueue)) {
            return false;
          }
        }
        if (gave && fits()) {
          return true;
        }
      }
      return false;
    }

    /**
     * Whether all who are left have less than the preemptor's queue would have: its own candidates
     * came before this target then, and nobody after it can be allowed.
     */
    private boolean endsWith(TargetQueue targetQueue) {
      return targetQueue.isLast()
          && targetQueue.shareOfPreemptor().compareTo(targetQueue.share()) > 0;
    }

    /** The first candidate that the strategy allows, if there is one. */
    private boolean takeAllowed(TargetQueue targetQueue, Strategy strategy) {
      DominantResourceShare preemptors = targetQueue.shareOfPreemptor();
      DominantResourceShare before = targetQueue.share();
      if (!mayAllow(strategy, preemptors, before)) {
        keep(targetQueue);
        targetQueue.line().close();
        return false;
      }
      for (QuotaHolder quotaHolder = targetQueue.line().first();
          quotaHolder != null;
          quotaHolder = targetQueue.line().first()) {
        if (strategy == Strategy.LESS_THAN_INITIAL_SHARE
            || preemptors.compareTo(shareWithout(quotaHolder, targetQueue)) <= 0) {
          return take(targetQueue, PreemptionReason.IN_COHORT_FAIR_SHARING);
        }
        keep(targetQueue);
        targetQueue.line().advance();
      }
      return false;
    }

    /** Whether any candidate can be allowed: without one, the other side never has more. */
    private static boolean mayAllow(
        Strategy strategy, DominantResourceShare preemptors, DominantResourceShare before) {
      int compared = preemptors.compareTo(before);
      return switch (strategy) {
        case LESS_THAN_INITIAL_SHARE -> compared < 0;
        case LESS_THAN_OR_EQUAL_TO_FINAL_SHARE -> compared <= 0;
      };
    }

    private static DominantResourceShare shareWithout(
        QuotaHolder quotaHolder, TargetQueue targetQueue) {
      ClusterQueueCache queue = targetQueue.line().source().queue();
      quotaHolder.removeUsage(queue);
      DominantResourceShare dominantResourceShare = targetQueue.shareNow();
      quotaHolder.restoreUsage(queue);
      return dominantResourceShare;
    }

    private void keep(TargetQueue targetQueue) {
      CandidateQueue candidateQueue = targetQueue.line().source();
      QuotaHolder quotaHolder = targetQueue.line().first();
      if (quotaHolder != null) {
        kept.putIfAbsent(
            candidateQueue.queue().node(), CandidateIterator.of(candidateQueue, quotaHolder));
      }
    }

    /** Of each queue only the first who was kept is looked at. */
    private boolean second(Strategy strategy) {
      TargetQueueOrdering targetQueueOrdering =
          TargetQueueOrdering.of(shares, preemptionRequest, kept::get);
      for (TargetQueue targetQueue = targetQueueOrdering.next();
          targetQueue != null;
          targetQueue = targetQueueOrdering.next()) {
        boolean allowed = mayAllow(strategy, targetQueue.shareOfPreemptor(), targetQueue.share());
        if (allowed && take(targetQueue, PreemptionReason.IN_COHORT_FAIR_SHARING) && fits()) {
          return true;
        }
        targetQueue.line().close();
      }
      return false;
    }

    private boolean take(TargetQueue targetQueue, PreemptionReason reason) {
      CandidateIterator candidateIterator = targetQueue.line();
      QuotaHolder quotaHolder = candidateIterator.first();
      if (quotaHolder == null) {
        return false;
      }
      PreemptionTarget preemptionTarget =
          new PreemptionTarget(quotaHolder, candidateIterator.source().queue(), reason);
      candidateIterator.advance();
      preemptionTarget.removeUsage();
      taken.add(preemptionTarget);
      targetQueue.changed();
      return true;
    }

    private boolean fits() {
      preemptionRequest.unreserve();
      boolean fits = preemptionRequest.fits(true);
      preemptionRequest.reserve();
      return fits;
    }
  }
}
