package dev.sluice.scheduling.preemption;

import dev.sluice.queue.QuotaHolder;
import dev.sluice.queue.ClusterQueueCache;
import dev.sluice.quota.FairShareCalculator;
import dev.sluice.quota.QuotaNode;
import dev.sluice.quota.DominantResourceShare;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The queues that candidates come from, in their tree: from the root down, the next one is where
 * most of what is shared is. Shares are remembered until usage below changes. The preemptor's
 * request counts as used meanwhile.
 */
final class TargetQueueOrdering {

  /** A cohort or queue of the tree, as long as candidates may come from below it. */
  private static final class Spot {
    private final QuotaNode node;
    private final @Nullable Spot parent;
    private final boolean onPath;
    private final List<Spot> children = new ArrayList<>();
    private @Nullable CandidateIterator candidateIterator;
    private boolean lineKnown;
    private @Nullable Spot towardsPreemptor;
    private @Nullable DominantResourceShare dominantResourceShare;

    Spot(QuotaNode node, @Nullable Spot parent, boolean onPath) {
      this.node = node;
      this.parent = parent;
      this.onPath = onPath;
    }
  }

  /** A queue that is to give the next victim. */
  final class Target {
    private final Spot spot;
    private final CandidateIterator candidateIterator;

    private Target(Spot spot, CandidateIterator candidateIterator) {
      this.spot = spot;
      this.candidateIterator = candidateIterator;
    }

    CandidateIterator line() {
      return candidateIterator;
    }

    /** Whether it is the preemptor's own queue. */
    boolean isOwn() {
      return spot.onPath;
    }

    /** Usage of the queue changed. */
    void changed() {
      for (Spot at = spot; at != null; at = at.parent) {
        at.dominantResourceShare = null;
      }
    }

    /** The share of its side of the tree, below the lowest ancestor common with the preemptor. */
    DominantResourceShare share() {
      return TargetQueueOrdering.this.share(side());
    }

    /** The same as usage stands now, without remembering it. */
    DominantResourceShare shareNow() {
      return shares.of(side().node);
    }

    /** The share of the preemptor's side. */
    DominantResourceShare shareOfPreemptor() {
      Spot common = Objects.requireNonNull(side().parent);
      return TargetQueueOrdering.this.share(Objects.requireNonNull(common.towardsPreemptor));
    }

    /**
     * Whether nobody else may give more, when this one may not: it has most of all beside the
     * preemptor's queue, right below the root.
     */
    boolean isLast() {
      return preemptionRequest.queue().node().parent() == root.node;
    }

    private Spot side() {
      Spot at = spot;
      while (at.parent != null && !at.parent.onPath) {
        at = at.parent;
      }
      return at;
    }
  }

  private final FairShareCalculator shares;
  private final PreemptionRequest preemptionRequest;
  private final Function<QuotaNode, @Nullable CandidateIterator> candidateIterators;
  private final Spot root;

  private TargetQueueOrdering(
      FairShareCalculator shares, PreemptionRequest preemptionRequest, Function<QuotaNode, @Nullable CandidateIterator> candidateIterators) {
    this.shares = shares;
    this.preemptionRequest = preemptionRequest;
    this.candidateIterators = candidateIterators;
    QuotaNode top = preemptionRequest.queue().node().root();
    this.root = new Spot(top, null, true);
    fill(root);
  }

  /**
   * All queues of the preemptor's tree.
   *
   * @param lines the candidates of a queue; null if there are none
   */
  static TargetQueueOrdering of(
      FairShareCalculator shares, PreemptionRequest preemptionRequest, Function<QuotaNode, @Nullable CandidateIterator> candidateIterators) {
    return new TargetQueueOrdering(shares, preemptionRequest, candidateIterators);
  }

  private void fill(Spot spot) {
    for (QuotaNode child : spot.node.children()) {
      boolean onPath = spot.onPath && isAbovePreemptor(child);
      if (!onPath && !shares.of(child).borrowing()) {
        continue;
      }
      Spot below = new Spot(child, spot, onPath);
      if (onPath) {
        spot.towardsPreemptor = below;
      }
      spot.children.add(below);
      fill(below);
    }
  }

  private boolean isAbovePreemptor(QuotaNode node) {
    for (QuotaNode at = preemptionRequest.queue().node(); at != null; at = at.parent()) {
      if (at == node) {
        return true;
      }
    }
    return false;
  }

  private DominantResourceShare share(Spot spot) {
    DominantResourceShare known = spot.dominantResourceShare;
    if (known == null) {
      known = shares.of(spot.node);
      spot.dominantResourceShare = known;
    }
    return known;
  }

  /** The queue whose turn it is; null when nobody is left. */
  @Nullable Target next() {
    Spot at = root;
    while (true) {
      if (at.node.isQueue()) {
        CandidateIterator candidateIterator = line(at);
        return candidateIterator == null || candidateIterator.first() == null ? null : new Target(at, candidateIterator);
      }
      Spot best = best(at);
      if (best != null) {
        at = best;
      } else if (at.parent == null) {
        return null;
      } else {
        at.parent.children.remove(at);
        at = root;
      }
    }
  }

  /** The child with the largest share; a cohort before a queue that has as much. */
  private @Nullable Spot best(Spot cohort) {
    while (true) {
      Spot best = null;
      for (Spot child : cohort.children) {
        if (best == null || comesBefore(child, best)) {
          best = child;
        }
      }
      if (best == null || !isDone(best)) {
        return best;
      }
      cohort.children.remove(best);
    }
  }

  private boolean isDone(Spot spot) {
    return (spot.node.isQueue() && first(spot) == null)
        || (!spot.onPath && !share(spot).borrowing());
  }

  private boolean comesBefore(Spot one, Spot two) {
    int byShare = share(one).compareTo(share(two));
    if (byShare != 0) {
      return byShare > 0;
    }
    if (!one.node.isQueue() || !two.node.isQueue()) {
      return !one.node.isQueue() && two.node.isQueue();
    }
    QuotaHolder first = first(one);
    QuotaHolder second = first(two);
    if (first == null || second == null) {
      return second == null && first != null;
    }
    if (first.evicted() != second.evicted()) {
      return first.evicted();
    }
    return one.onPath == two.onPath ? QuotaHolder.VICTIM_ORDER.compare(first, second) < 0 : two.onPath;
  }

  private @Nullable QuotaHolder first(Spot queue) {
    CandidateIterator candidateIterator = line(queue);
    return candidateIterator == null ? null : candidateIterator.first();
  }

  /** Candidates are looked up only of a queue whose turn may have come. */
  private @Nullable CandidateIterator line(Spot queue) {
    if (!queue.lineKnown) {
      queue.lineKnown = true;
      queue.candidateIterator = candidateIterators.apply(queue.node);
    }
    return queue.candidateIterator;
  }

  /** The candidates of a queue, given what it is to the preemptor. */
  static @Nullable CandidateIterator line(
      PreemptionRequest preemptionRequest, QuotaNode node, Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    boolean own = node == preemptionRequest.queue().node();
    if (!own && !preemptionRequest.isBorrowing(node)) {
      return null;
    }
    ClusterQueueCache queue = own ? preemptionRequest.queue() : queues.apply(node);
    if (queue == null || queue.holders().size() == 0) {
      return null;
    }
    return CandidateIterator.of(new CandidateQueue(queue, own ? null : node.parent(), false), preemptionRequest);
  }
}
