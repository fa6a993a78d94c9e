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
 * Preemption by fair shares (docs/scheduling-semantics.md#fair-sharing): targets come from the
 * queue with the highest share, as long as the preemptor's share stays below the other queue's
 * share, or at most at its share after the preemption.
 */
public final class FairPreemption implements PreemptionStrategy {

  private final FairSharing parameters;
  private final FairShareCalculator shares;
  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;

  /**
   * Creates the strategy.
   *
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   */
  public FairPreemption(
      FairSharing parameters,
      FairShareCalculator shares,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    this.parameters = parameters;
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
    boolean fits = search.mayFindTarget() && search.findsTargets();
    preemptionRequest.unreserve();
    Found found = null;
    if (fits) {
      FillBack.apply(preemptionRequest, search.targets, true);
      found = new Found(search.targets, preemptionRequest.borrowLevel());
    }
    search.targets.reversed().forEach(PreemptionTarget::restoreUsage);
    return Optional.ofNullable(found);
  }

  @Override
  public boolean meetsNotEvictable(PreemptionRequest preemptionRequest) {
    return CandidateQueues.meetNotEvictable(queues, preemptionRequest);
  }

  @Override
  public PreemptionUpperBound upperBound(QuotaNode root) {
    return new FairUpperBound(root, this, shares, queues);
  }

  /** One search; meanwhile the preemptor's request counts as used. */
  private final class Search {
    private final PreemptionRequest preemptionRequest;
    private final List<PreemptionTarget> targets = new ArrayList<>();

    /**
     * The first candidate of each visited queue that the first strategy didn't allow; closed sides
     * are looked up when the second strategy visits them.
     */
    private final Map<QuotaNode, CandidateIterator> disallowed = new HashMap<>();

    /** The order of the first strategy, which closed sides whose queues it didn't visit. */
    private @Nullable TargetQueueOrdering firstOrdering;

    Search(PreemptionRequest preemptionRequest) {
      this.preemptionRequest = preemptionRequest;
    }

    /**
     * Whether there may be a first target. Shares change only by targets, so the first one is in
     * the own queue, or in a side of the tree whose share allows it as it is.
     */
    boolean mayFindTarget() {
      PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
      if (policies.withinClusterQueue() != WithinClusterQueue.NEVER
          && new CandidateQueue(preemptionRequest.queue(), null, false)
              .hasCandidates(preemptionRequest)) {
        return true;
      }
      if (policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER) {
        return false;
      }
      boolean ignoresShares = reclaimsWhateverTheShares();
      QuotaNode preemptorSide = preemptionRequest.queue().node();
      for (QuotaNode ancestor = preemptorSide.parent();
          ancestor != null;
          ancestor = ancestor.parent()) {
        DominantResourceShare own = shares.of(preemptorSide);
        for (QuotaNode side : ancestor.children()) {
          if (side != preemptorSide) {
            DominantResourceShare share = shares.of(side);
            if (share.borrowing() && (ignoresShares || share.compareTo(own) >= 0)) {
              return true;
            }
          }
        }
        preemptorSide = ancestor;
      }
      return false;
    }

    /** Whether the preemptor reclaims its own quota, to which shares don't matter. */
    private boolean reclaimsWhateverTheShares() {
      return parameters.reclaimsWithinNominal()
          && !preemptionRequest.isBorrowing(preemptionRequest.queue().node());
    }

    boolean findsTargets() {
      return applyFirstStrategy(parameters.strategies().getFirst())
          || (parameters.strategies().size() > 1
              && applySecondStrategy(parameters.strategies().get(1)));
    }

    private @Nullable CandidateIterator candidates(QuotaNode node) {
      PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
      boolean never =
          node == preemptionRequest.queue().node()
              ? policies.withinClusterQueue() == WithinClusterQueue.NEVER
              : policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER;
      return never ? null : TargetQueueOrdering.candidates(preemptionRequest, node, queues);
    }

    private boolean applyFirstStrategy(Strategy strategy) {
      TargetQueueOrdering targetQueueOrdering =
          new TargetQueueOrdering(
              shares, preemptionRequest, this::candidates, this::reclaimsWhateverTheShares);
      firstOrdering = targetQueueOrdering;
      for (TargetQueue targetQueue = targetQueueOrdering.next();
          targetQueue != null;
          targetQueue = targetQueueOrdering.next()) {
        boolean added;
        if (targetQueue.isOwn()) {
          added = addTarget(targetQueue, PreemptionReason.IN_CLUSTER_QUEUE);
        } else if (reclaimsWhateverTheShares()) {
          added = addTarget(targetQueue, PreemptionReason.IN_COHORT_RECLAMATION);
        } else {
          added = addAllowedTarget(targetQueue, strategy);
        }
        if (added && fits()) {
          return true;
        }
      }
      return false;
    }

    /** Takes the first candidate that the strategy allows, if there is one. */
    private boolean addAllowedTarget(TargetQueue targetQueue, Strategy strategy) {
      DominantResourceShare preemptorShare = targetQueue.shareOfPreemptor();
      DominantResourceShare otherShare = targetQueue.share();
      if (!mayAllow(strategy, preemptorShare, otherShare)) {
        targetQueue.closeSide();
        return false;
      }
      for (QuotaHolder quotaHolder = targetQueue.candidates().first();
          quotaHolder != null;
          quotaHolder = targetQueue.candidates().first()) {
        if (strategy == Strategy.LESS_THAN_INITIAL_SHARE
            || preemptorShare.compareTo(shareWithout(quotaHolder, targetQueue)) <= 0) {
          return addTarget(targetQueue, PreemptionReason.IN_COHORT_FAIR_SHARING);
        }
        recordDisallowed(targetQueue);
        targetQueue.candidates().advance();
      }
      return false;
    }

    /**
     * Whether any candidate can be allowed: removing a candidate never increases the other share.
     */
    private static boolean mayAllow(
        Strategy strategy, DominantResourceShare preemptorShare, DominantResourceShare otherShare) {
      int compared = preemptorShare.compareTo(otherShare);
      return switch (strategy) {
        case LESS_THAN_INITIAL_SHARE -> compared < 0;
        case LESS_THAN_OR_EQUAL_TO_FINAL_SHARE -> compared <= 0;
      };
    }

    private static DominantResourceShare shareWithout(
        QuotaHolder quotaHolder, TargetQueue targetQueue) {
      ClusterQueueCache queue = targetQueue.candidates().source().queue();
      quotaHolder.removeUsage(queue);
      DominantResourceShare dominantResourceShare = targetQueue.shareNow();
      quotaHolder.restoreUsage(queue);
      return dominantResourceShare;
    }

    private void recordDisallowed(TargetQueue targetQueue) {
      CandidateQueue candidateQueue = targetQueue.candidates().source();
      QuotaHolder quotaHolder = targetQueue.candidates().first();
      if (quotaHolder != null) {
        disallowed.putIfAbsent(
            candidateQueue.queue().node(), CandidateIterator.of(candidateQueue, quotaHolder));
      }
    }

    /** Applies the second strategy to the first disallowed candidate of each queue. */
    private boolean applySecondStrategy(Strategy strategy) {
      TargetQueueOrdering targetQueueOrdering =
          new TargetQueueOrdering(shares, preemptionRequest, this::firstDisallowed, () -> false);
      for (TargetQueue targetQueue = targetQueueOrdering.next();
          targetQueue != null;
          targetQueue = targetQueueOrdering.next()) {
        if (!mayAllow(strategy, targetQueue.shareOfPreemptor(), targetQueue.share())) {
          targetQueue.closeSide();
        } else if (addTarget(targetQueue, PreemptionReason.IN_COHORT_FAIR_SHARING) && fits()) {
          return true;
        } else {
          targetQueue.candidates().close();
        }
      }
      return false;
    }

    /** The first candidate of a queue that the first strategy didn't allow. */
    private @Nullable CandidateIterator firstDisallowed(QuotaNode node) {
      CandidateIterator known = disallowed.get(node);
      if (known != null || firstOrdering == null) {
        return known;
      }
      CandidateIterator left = firstOrdering.leftInClosedSide(node);
      QuotaHolder first = left == null ? null : left.first();
      return left == null || first == null ? null : CandidateIterator.of(left.source(), first);
    }

    private boolean addTarget(TargetQueue targetQueue, PreemptionReason reason) {
      CandidateIterator candidateIterator = targetQueue.candidates();
      QuotaHolder quotaHolder = candidateIterator.first();
      if (quotaHolder == null) {
        return false;
      }
      PreemptionTarget preemptionTarget =
          new PreemptionTarget(quotaHolder, candidateIterator.source().queue(), reason);
      candidateIterator.advance();
      preemptionTarget.removeUsage();
      targets.add(preemptionTarget);
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
