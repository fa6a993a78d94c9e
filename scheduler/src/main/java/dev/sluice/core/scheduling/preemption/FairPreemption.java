package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.ShareRanking;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Found;
import dev.sluice.core.scheduling.preemption.TargetQueueOrdering.CandidateIterator;
import dev.sluice.core.scheduling.preemption.TargetQueueOrdering.RankedChildren;
import dev.sluice.core.scheduling.preemption.TargetQueueOrdering.TargetQueue;
import dev.sluice.core.waiting.PreemptionUpperBound;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
  private final BorrowingQueues borrowingQueues;
  private final ShareRanking.LeastReservations least;
  private final RememberedSearches rememberedSearches = new RememberedSearches();

  /**
   * Creates the strategy.
   *
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   * @param ofAllTrees the queues of all trees
   */
  public FairPreemption(
      FairSharing parameters,
      FairShareCalculator shares,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      Supplier<Stream<ClusterQueueCache>> ofAllTrees) {
    this.parameters = parameters;
    this.shares = shares;
    this.queues = queues;
    this.borrowingQueues = new BorrowingQueues(queues, ofAllTrees);
    this.least =
        (node, pair) -> {
          ClusterQueueCache queue = queues.apply(node);
          return queue == null ? 0 : queue.holders().leastAmount(pair);
        };
  }

  @Override
  public boolean mayPreemptBorrowing(ClusterQueueCache queue) {
    PreemptionPolicies policies = queue.spec().preemption();
    return policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER
        || PreemptionStrategy.super.mayPreemptBorrowing(queue);
  }

  @Override
  public Optional<Found> find(PreemptionRequest preemptionRequest) {
    if (!preemptionRequest.queue().mayPreempt()) {
      return Optional.empty();
    }
    Search search = new Search(preemptionRequest);
    Optional<ConfiguredPreemption> configured =
        preemptionRequest
            .queue()
            .spec()
            .rules()
            .preemptionConfig()
            .map(config -> new ConfiguredPreemption(borrowingQueues, preemptionRequest, config));
    boolean byShares = search.mayFindTarget();
    if (!byShares && configured.isEmpty()) {
      return Optional.empty();
    }
    QuotaNode node = preemptionRequest.queue().node();
    search.rankAncestors();
    node.keepShares();
    boolean fits = false;
    if (byShares) {
      preemptionRequest.reserve();
      fits = search.findsTargets();
      preemptionRequest.unreserve();
    }
    if (!fits && configured.isPresent()) {
      fits = configured.get().addTo(search.targets);
    }
    Found found = null;
    if (fits) {
      FillBack.apply(preemptionRequest, search.targets, true);
      found = new Found(search.targets, preemptionRequest.borrowLevel());
    }
    search.targets.reversed().forEach(PreemptionTarget::restoreUsage);
    node.restoreShares();
    return Optional.ofNullable(found);
  }

  @Override
  public Optional<Found> findAsReserved(PreemptionRequest preemptionRequest) {
    return rememberedSearches.get(preemptionRequest, this::find);
  }

  @Override
  public void forget() {
    rememberedSearches.forget();
  }

  @Override
  public boolean meetsNotEvictable(PreemptionRequest preemptionRequest) {
    return CandidateQueues.meetNotEvictable(borrowingQueues, preemptionRequest)
        || ConfiguredPreemption.meetsNotEvictable(borrowingQueues, preemptionRequest);
  }

  @Override
  public Protected protectedFrom(PreemptionRequest preemptionRequest) {
    return CandidateQueues.protectedFrom(borrowingQueues, preemptionRequest)
        .and(ConfiguredPreemption.protectedFrom(borrowingQueues, preemptionRequest));
  }

  @Override
  public PreemptionUpperBound upperBound(QuotaNode root) {
    return new FairUpperBound(root, this, shares, queues);
  }

  /**
   * Whether a strategy may allow a candidate of another side than the preemptor's, with the shares
   * as they are.
   *
   * @param ranking the shares on the level of the sides
   * @param share the share of the preemptor's side, with its request
   * @param needed the pairs of which every candidate reserves at least one
   */
  boolean mayAllowAny(
      ShareRanking ranking, QuotaNode preemptorSide, DominantResourceShare share, int[] needed) {
    DominantResourceShare highest = ranking.highestBeside(preemptorSide);
    int compared = highest == null ? 1 : share.compareTo(highest);
    if (compared > 0) {
      return false;
    }
    if (parameters.strategies().contains(Strategy.LESS_THAN_INITIAL_SHARE) && compared < 0) {
      return true;
    }
    if (parameters.strategies().getFirst() == Strategy.LESS_THAN_INITIAL_SHARE) {
      return parameters.strategies().size() > 1;
    }
    for (int pair : needed) {
      DominantResourceShare left = ranking.highestFinalBeside(preemptorSide, pair, least);
      if (left != null && share.compareTo(left) <= 0) {
        return true;
      }
    }
    return false;
  }

  /** One search; meanwhile the preemptor's request counts as used. */
  private final class Search {
    private final PreemptionRequest preemptionRequest;
    private final List<PreemptionTarget> targets = new ArrayList<>();

    /** The children of the cohorts above the preemptor's queue, before anything is reserved. */
    private final Map<QuotaNode, ShareRanking> ofAncestors = new HashMap<>(4);

    /**
     * The first candidate of each visited queue that the first strategy didn't allow; other queues
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
      return policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER
          && preemptionRequest.queue().node().parent() != null
          && sideMayHaveTarget();
    }

    private boolean sideMayHaveTarget() {
      QuotaNode node = preemptionRequest.queue().node();
      List<DominantResourceShare> withRequest = new ArrayList<>(2);
      node.keepShares();
      preemptionRequest.reserve();
      boolean ignoresShares = reclaimsWhateverTheShares();
      for (QuotaNode side = node; side.parent() != null; side = side.parent()) {
        withRequest.add(shares.of(side));
      }
      preemptionRequest.unreserve();
      node.restoreShares();
      QuotaNode side = node;
      for (DominantResourceShare share : withRequest) {
        QuotaNode ancestor = Objects.requireNonNull(side.parent());
        ShareRanking ranking = shares.ranking(ancestor);
        if (ignoresShares
            ? ranking.highestBeside(side) != null
            : mayAllowAny(ranking, side, share, preemptionRequest.needed())) {
          return true;
        }
        side = ancestor;
      }
      return false;
    }

    /** Whether the preemptor reclaims its own quota, to which shares don't matter. */
    private boolean reclaimsWhateverTheShares() {
      return parameters.reclaimsWithinNominal()
          && !preemptionRequest.isBorrowing(preemptionRequest.queue().node());
    }

    void rankAncestors() {
      for (QuotaNode node = preemptionRequest.queue().node().parent();
          node != null;
          node = node.parent()) {
        ofAncestors.put(node, shares.ranking(node));
      }
    }

    /** The children of a cohort; those of an ancestor as they were before the first target. */
    private RankedChildren ranked(QuotaNode cohort) {
      ShareRanking known = ofAncestors.get(cohort);
      return RankedChildren.of(known == null ? shares.ranking(cohort) : known, queues);
    }

    /**
     * The children of a cohort with the current usage. Only the shares of ancestors of the
     * preemptor's queue change with its request.
     */
    private RankedChildren rankedNow(QuotaNode cohort) {
      return targets.isEmpty() ? ranked(cohort) : RankedChildren.of(shares.ranking(cohort), queues);
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
              shares,
              preemptionRequest,
              this::candidates,
              this::reclaimsWhateverTheShares,
              (side, preemptorShare, sideShare) ->
                  mayAllow(strategy, preemptorShare, sideShare)
                      && (strategy == Strategy.LESS_THAN_INITIAL_SHARE
                          || mayLeave(side, preemptorShare)),
              this::ranked);
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
      if (strategy == Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE
          && !mayLeave(targetQueue, preemptorShare)) {
        // None is allowed.
        recordDisallowed(targetQueue);
        targetQueue.candidates().close();
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

    /**
     * Whether the other side may have at least the preemptor's share without one of the queue's
     * candidates: each of them reserves at least the least amount of a needed pair.
     */
    private boolean mayLeave(TargetQueue targetQueue, DominantResourceShare preemptorShare) {
      QuotaNode queue = targetQueue.candidates().source().queue().node();
      for (int pair : preemptionRequest.needed()) {
        long amount = least.of(queue, pair);
        if (amount > 0
            && preemptorShare.compareTo(shares.without(targetQueue.side(), queue, pair, amount))
                <= 0) {
          return true;
        }
      }
      return false;
    }

    /** Whether a side may have at least the preemptor's share without one of its candidates. */
    private boolean mayLeave(QuotaNode side, DominantResourceShare preemptorShare) {
      for (int pair : preemptionRequest.needed()) {
        DominantResourceShare left = shares.highestWithout(side, pair, least);
        if (left != null && preemptorShare.compareTo(left) <= 0) {
          return true;
        }
      }
      return false;
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
          new TargetQueueOrdering(
              shares,
              preemptionRequest,
              this::firstDisallowed,
              () -> false,
              (side, preemptorShare, sideShare) -> mayAllow(strategy, preemptorShare, sideShare),
              this::rankedNow);
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
      CandidateIterator left = firstOrdering.left(node);
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

  /**
   * The upper bound of preemption by fair shares (docs/scheduling-semantics.md#fair-sharing):
   * targets in other queues count also if the share of another child of the root may allow one,
   * with the share that the own queue would have. The own queue's share is compared only where the
   * queue is a child of the root.
   *
   * <p>Why this is never too low: without any target in another queue that reserves the pair, the
   * missing amount doesn't become free. When that target is taken, the own queue has at least the
   * share compared here, which assumes that all targets of the own queue are gone, and counts one
   * pair only; and the other child has at most the share it has now.
   */
  private static final class FairUpperBound extends ClassicalUpperBound {

    private final QuotaNode root;
    private final FairPreemption strategy;
    private final FairShareCalculator shares;

    FairUpperBound(
        QuotaNode root,
        FairPreemption strategy,
        FairShareCalculator shares,
        Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
      super(root, strategy, queues);
      this.root = root;
      this.strategy = strategy;
      this.shares = shares;
    }

    @Override
    boolean mayReclaimOtherwise(QuotaNode node, int pair, long amount, long own) {
      if (node.parent() != root) {
        return true;
      }
      long used = ResourceAmounts.add(ResourceAmounts.subtract(node.usage(pair), own), amount);
      return strategy.mayAllowAny(
          shares.ranking(root), node, shares.atLeast(node, pair, used), new int[] {pair});
    }
  }

  /**
   * The answers to searches for targets, kept until something changes that they depend on. A head
   * that waits for its targets takes part in every cycle of its tree, and most of these cycles come
   * of events that change no reservation.
   *
   * <p>Why an answer holds: a search reads the request, the spec of the preemptor's queue, and of
   * its tree the quota, the usage, the holders and which of them are protected for some time. A
   * request that differs in anything has an entry of its own. A changed spec of the queue comes
   * with a new {@link ClusterQueueCache}, which is the key, and all other declarations with a
   * rebuild of the trees, after which everything is forgotten. Holders come, go and change only
   * with {@link QuotaNode#reservationsChanged}, after which the root has no answers; a holder that
   * is being evicted is another holder. The end of a protection counts as a change of reservations
   * ({@code WaitingWorkloads.timePassed}). The usage is the sum of what the holders reserve,
   * because the caller asks only while it is. The order of holders also depends on the usage of
   * LocalQueues over time, whose changes make everything forgotten. Searches that look for places
   * on nodes depend on other trees, too, and are not remembered.
   */
  static final class RememberedSearches {

    /** How many answers are kept for one queue: its head may be asked about in several flavors. */
    private static final int PER_QUEUE = 16;

    private record Answer(PreemptionRequest question, Optional<Found> found) {

      boolean answers(PreemptionRequest other) {
        return question.priority() == other.priority()
            && question.queuedAtMicros() == other.queuedAtMicros()
            && Arrays.equals(question.pairs(), other.pairs())
            && Arrays.equals(question.amounts(), other.amounts())
            && Arrays.equals(question.needed(), other.needed())
            && question.preemptor().spared().equals(other.preemptor().spared())
            && question
                .preemptor()
                .repeated()
                .keySet()
                .equals(other.preemptor().repeated().keySet())
            && question.preemptor().exempt() == other.preemptor().exempt()
            && question.preemptor().traits().equals(other.preemptor().traits());
      }
    }

    /** The answers for one tree, by queue. The root drops them when a reservation changes. */
    private record Answers(
        RememberedSearches owner, long generation, Map<ClusterQueueCache, List<Answer>> byQueue) {}

    /** Which answers count: those of an earlier generation are forgotten. */
    private long generation;

    /** The remembered answer, or the answer of a search, which is remembered. */
    Optional<Found> get(
        PreemptionRequest preemptionRequest, Function<PreemptionRequest, Optional<Found>> search) {
      ClusterQueueCache queue = preemptionRequest.queue();
      if (queue.topologyAware()) {
        return search.apply(preemptionRequest);
      }
      List<Answer> known =
          answers(queue.node().root()).computeIfAbsent(queue, any -> new ArrayList<>(4));
      for (Answer answer : known) {
        if (answer.answers(preemptionRequest)) {
          return answer.found;
        }
      }
      Optional<Found> found = search.apply(preemptionRequest);
      if (known.size() < PER_QUEUE) {
        known.add(new Answer(preemptionRequest, found));
      }
      return found;
    }

    private Map<ClusterQueueCache, List<Answer>> answers(QuotaNode root) {
      if (root.untilReservationsChange() instanceof Answers known
          && known.owner == this
          && known.generation == generation) {
        return known.byQueue;
      }
      Answers none = new Answers(this, generation, new HashMap<>());
      root.untilReservationsChange(none);
      return none.byQueue;
    }

    void forget() {
      generation++;
    }
  }
}
