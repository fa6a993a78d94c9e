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
 * Orders the queues with candidates: descends from the root of the tree to the child with the
 * highest share. Shares are cached until usage below changes. The preemptor's request counts as
 * used meanwhile.
 */
final class TargetQueueOrdering {

  /** A cohort or queue of the tree that may have candidates below it. */
  private static final class TreeNode {
    private final QuotaNode node;
    private final @Nullable TreeNode parent;
    private final boolean onPath;
    private final List<TreeNode> children = new ArrayList<>();
    private @Nullable CandidateIterator candidateIterator;
    private boolean candidatesKnown;
    private @Nullable TreeNode childOnPath;
    private @Nullable DominantResourceShare dominantResourceShare;

    TreeNode(QuotaNode node, @Nullable TreeNode parent, boolean onPath) {
      this.node = node;
      this.parent = parent;
      this.onPath = onPath;
    }
  }

  /** The queue that provides the next target. */
  final class TargetQueue {
    private final TreeNode treeNode;
    private final CandidateIterator candidateIterator;

    private TargetQueue(TreeNode treeNode, CandidateIterator candidateIterator) {
      this.treeNode = treeNode;
      this.candidateIterator = candidateIterator;
    }

    CandidateIterator candidates() {
      return candidateIterator;
    }

    /** Whether the queue is the preemptor's own queue. */
    boolean isOwn() {
      return treeNode.onPath;
    }

    /** Drops cached shares, because the usage of the queue changed. */
    void changed() {
      for (TreeNode current = treeNode; current != null; current = current.parent) {
        current.dominantResourceShare = null;
      }
    }

    /**
     * The share of the queue's side of the tree: the child of the lowest common ancestor with the
     * preemptor.
     */
    DominantResourceShare share() {
      return TargetQueueOrdering.this.share(side());
    }

    /** The share of the queue's side with the current usage, not cached. */
    DominantResourceShare shareNow() {
      return shares.of(side().node);
    }

    /** The share of the preemptor's side. */
    DominantResourceShare shareOfPreemptor() {
      TreeNode common = Objects.requireNonNull(side().parent);
      return TargetQueueOrdering.this.share(Objects.requireNonNull(common.childOnPath));
    }

    /**
     * Whether no other queue can be allowed if this one is not: it has the highest share beside the
     * preemptor's queue, and both are children of the root.
     */
    boolean isLast() {
      return preemptionRequest.queue().node().parent() == root.node;
    }

    private TreeNode side() {
      TreeNode current = treeNode;
      while (current.parent != null && !current.parent.onPath) {
        current = current.parent;
      }
      return current;
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
   * The order of all queues of the preemptor's tree.
   *
   * @param candidateIterators the candidates of a queue; null if there are none
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
        treeNode.childOnPath = below;
      }
      treeNode.children.add(below);
      fill(below);
    }
  }

  private boolean isAbovePreemptor(QuotaNode node) {
    for (QuotaNode current = preemptionRequest.queue().node();
        current != null;
        current = current.parent()) {
      if (current == node) {
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

  /** The next queue; null when no queue with candidates is left. */
  @Nullable TargetQueue next() {
    TreeNode current = root;
    while (true) {
      if (current.node.isQueue()) {
        CandidateIterator candidateIterator = candidates(current);
        return candidateIterator == null || candidateIterator.first() == null
            ? null
            : new TargetQueue(current, candidateIterator);
      }
      TreeNode best = highestShare(current);
      if (best != null) {
        current = best;
      } else if (current.parent == null) {
        return null;
      } else {
        current.parent.children.remove(current);
        current = root;
      }
    }
  }

  /** The child with the highest share; a cohort before a queue with an equal share. */
  private @Nullable TreeNode highestShare(TreeNode cohort) {
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
        ? QuotaHolder.PREEMPTION_ORDER.compare(first, second) < 0
        : two.onPath;
  }

  private @Nullable QuotaHolder first(TreeNode queue) {
    CandidateIterator candidateIterator = candidates(queue);
    return candidateIterator == null ? null : candidateIterator.first();
  }

  /** The candidates of a queue, computed at the first call. */
  private @Nullable CandidateIterator candidates(TreeNode queue) {
    if (!queue.candidatesKnown) {
      queue.candidatesKnown = true;
      queue.candidateIterator = candidateIterators.apply(queue.node);
    }
    return queue.candidateIterator;
  }

  /** The candidates of a queue that the preemptor's policies allow. */
  static @Nullable CandidateIterator candidates(
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
