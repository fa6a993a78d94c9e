package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
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
  private static final class TreeNode {
    private final QuotaNode node;
    private final @Nullable TreeNode parent;
    private final boolean onPath;
    private final List<TreeNode> children = new ArrayList<>();
    private @Nullable CandidateIterator candidateIterator;
    private boolean lineKnown;
    private @Nullable TreeNode towardsPreemptor;
    private @Nullable DominantResourceShare dominantResourceShare;

    TreeNode(QuotaNode node, @Nullable TreeNode parent, boolean onPath) {
      this.node = node;
      this.parent = parent;
      this.onPath = onPath;
    }
  }

  /** A queue that is to give the next victim. */
  final class TargetQueue {
    private final TreeNode treeNode;
    private final CandidateIterator candidateIterator;

    private TargetQueue(TreeNode treeNode, CandidateIterator candidateIterator) {
      this.treeNode = treeNode;
      this.candidateIterator = candidateIterator;
    }

    CandidateIterator line() {
      return candidateIterator;
    }

    /** Whether it is the preemptor's own queue. */
    boolean isOwn() {
      return treeNode.onPath;
    }

    /** Usage of the queue changed. */
    void changed() {
      for (TreeNode at = treeNode; at != null; at = at.parent) {
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
      TreeNode common = Objects.requireNonNull(side().parent);
      return TargetQueueOrdering.this.share(Objects.requireNonNull(common.towardsPreemptor));
    }

    /**
     * Whether nobody else may give more, when this one may not: it has most of all beside the
     * preemptor's queue, right below the root.
     */
    boolean isLast() {
      return preemptionRequest.queue().node().parent() == root.node;
    }

    private TreeNode side() {
      TreeNode at = treeNode;
      while (at.parent != null && !at.parent.onPath) {
        at = at.parent;
      }
      return at;
    }
  }

  private final FairShareCalculator shares;
  private final PreemptionRequest preemptionRequest;
  private final Function<QuotaNode, @Nullable CandidateIterator> candidateIterators;
  private final TreeNode root;

  private TargetQueueOrdering(
      FairShareCalculator shares,
      PreemptionRequest preemptionRequest,
      Function<QuotaNode, @Nullable CandidateIterator> candidateIterators) {
    this.shares = shares;
    this.preemptionRequest = preemptionRequest;
    this.candidateIterators = candidateIterators;
    QuotaNode top = preemptionRequest.queue().node().root();
    this.root = new TreeNode(top, null, true);
    fill(root);
  }

  /**
   * All queues of the preemptor's tree.
   *
   * @param lines the candidates of a queue; null if there are none
   */
  static TargetQueueOrdering of(
      FairShareCalculator shares,
      PreemptionRequest preemptionRequest,
      Function<QuotaNode, @Nullable CandidateIterator> candidateIterators) {
    return new TargetQueueOrdering(shares, preemptionRequest, candidateIterators);
  }

  private void fill(TreeNode treeNode) {
    for (QuotaNode child : treeNode.node.children()) {
      boolean onPath = treeNode.onPath && isAbovePreemptor(child);
      if (!onPath && !shares.of(child).borrowing()) {
        continue;
      }
      TreeNode below = new TreeNode(child, treeNode, onPath);
      if (onPath) {
        treeNode.towardsPreemptor = below;
      }
      treeNode.children.add(below);
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

  private DominantResourceShare share(TreeNode treeNode) {
    DominantResourceShare known = treeNode.dominantResourceShare;
    if (known == null) {
      known = shares.of(treeNode.node);
      treeNode.dominantResourceShare = known;
    }
    return known;
  }

  /** The queue whose turn it is; null when nobody is left. */
  @Nullable TargetQueue next() {
    TreeNode at = root;
    while (true) {
      if (at.node.isQueue()) {
        CandidateIterator candidateIterator = line(at);
        return candidateIterator == null || candidateIterator.first() == null
            ? null
            : new TargetQueue(at, candidateIterator);
      }
      TreeNode best = best(at);
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
  private @Nullable TreeNode best(TreeNode cohort) {
    while (true) {
      TreeNode best = null;
      for (TreeNode child : cohort.children) {
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

  private boolean isDone(TreeNode treeNode) {
    return (treeNode.node.isQueue() && first(treeNode) == null)
        || (!treeNode.onPath && !share(treeNode).borrowing());
  }

  private boolean comesBefore(TreeNode one, TreeNode two) {
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
    return one.onPath == two.onPath
        ? QuotaHolder.VICTIM_ORDER.compare(first, second) < 0
        : two.onPath;
  }

  private @Nullable QuotaHolder first(TreeNode queue) {
    CandidateIterator candidateIterator = line(queue);
    return candidateIterator == null ? null : candidateIterator.first();
  }

  /** Candidates are looked up only of a queue whose turn may have come. */
  private @Nullable CandidateIterator line(TreeNode queue) {
    if (!queue.lineKnown) {
      queue.lineKnown = true;
      queue.candidateIterator = candidateIterators.apply(queue.node);
    }
    return queue.candidateIterator;
  }

  /** The candidates of a queue, given what it is to the preemptor. */
  static @Nullable CandidateIterator line(
      PreemptionRequest preemptionRequest,
      QuotaNode node,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    boolean own = node == preemptionRequest.queue().node();
    if (!own && !preemptionRequest.isBorrowing(node)) {
      return null;
    }
    ClusterQueueCache queue = own ? preemptionRequest.queue() : queues.apply(node);
    if (queue == null || queue.holders().size() == 0) {
      return null;
    }
    return CandidateIterator.of(
        new CandidateQueue(queue, own ? null : node.parent(), false), preemptionRequest);
  }
}
