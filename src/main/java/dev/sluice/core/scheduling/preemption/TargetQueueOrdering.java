package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Orders the queues with candidates: descends from the root of the tree to the child with the
 * highest share. Shares are cached until usage below changes. The preemptor's request counts as
 * used meanwhile.
 *
 * <p>A <i>side</i> is a child of an ancestor of the preemptor that isn't itself an ancestor.
 * Whether its candidates are allowed depends on its share and on the share of the preemptor's side
 * only, so a side that isn't allowed is closed as a whole; a tree of many queues is not visited
 * queue by queue. Nodes below a side are listed when the side is visited.
 */
final class TargetQueueOrdering {

  /** A cohort or queue of the tree that may have candidates below it. */
  private static final class TreeNode {
    private final QuotaNode node;
    private final @Nullable TreeNode parent;
    private final boolean onPath;

    /** The position among all children of the cohort, which decides between equal cohorts. */
    private final int position;

    private @Nullable List<TreeNode> children;
    private @Nullable CandidateIterator candidateIterator;
    private boolean candidatesKnown;
    private @Nullable TreeNode childOnPath;
    private @Nullable DominantResourceShare dominantResourceShare;

    /** Whether the node is no longer among the children that may have candidates. */
    private boolean removed;

    /** Whether the children that are not allowed were closed, which is done once. */
    private boolean closedDisallowed;

    /** The child whose share changed since the children were ordered; null if none did. */
    private @Nullable TreeNode changedChild;

    TreeNode(QuotaNode node, @Nullable TreeNode parent, boolean onPath, int position) {
      this.position = position;
      this.node = node;
      this.parent = parent;
      this.onPath = onPath;
    }
  }

  /** Whether the shares of a side and of the preemptor's side may allow a candidate of the side. */
  @FunctionalInterface
  interface SideCheck {

    /** False only if no candidate is allowed, now or when usage of the side is lower. */
    boolean mayAllow(
        QuotaNode side, DominantResourceShare preemptorShare, DominantResourceShare sideShare);
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
        reorder(current.parent);
        current.dominantResourceShare = null;
        if (current.parent != null) {
          current.parent.changedChild = current;
        }
      }
    }

    /**
     * The share of the queue's side of the tree: the child of the lowest common ancestor with the
     * preemptor.
     */
    DominantResourceShare share() {
      return TargetQueueOrdering.this.share(treeSide());
    }

    /** The share of the queue's side with the current usage, not cached. */
    DominantResourceShare shareNow() {
      return shares.of(side());
    }

    /** The share of the preemptor's side. */
    DominantResourceShare shareOfPreemptor() {
      TreeNode common = Objects.requireNonNull(treeSide().parent);
      return TargetQueueOrdering.this.share(Objects.requireNonNull(common.childOnPath));
    }

    /**
     * Closes the queue's side, whose share doesn't allow any candidate: all its queues would come
     * next, and nothing changes before.
     */
    void closeSide() {
      TreeNode side = treeSide();
      closedSides.put(side.node, side);
      remove(Objects.requireNonNull(side.parent), side);
    }

    /** The side that the queue belongs to. */
    QuotaNode side() {
      return treeSide().node;
    }

    private TreeNode treeSide() {
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
  private final BooleanSupplier ignoresShares;
  private final SideCheck sideCheck;
  private final Map<QuotaNode, TreeNode> closedSides = new HashMap<>(4);
  private final TreeNode root;

  /**
   * The order of all queues of the preemptor's tree.
   *
   * @param candidateIterators the candidates of a queue; null if there are none
   * @param ignoresShares whether candidates are allowed at the moment whatever the shares
   * @param sideCheck whether a side may have a candidate that is allowed
   */
  TargetQueueOrdering(
      FairShareCalculator shares,
      PreemptionRequest preemptionRequest,
      Function<QuotaNode, @Nullable CandidateIterator> candidateIterators,
      BooleanSupplier ignoresShares,
      SideCheck sideCheck) {
    this.shares = shares;
    this.preemptionRequest = preemptionRequest;
    this.candidateIterators = candidateIterators;
    this.ignoresShares = ignoresShares;
    this.sideCheck = sideCheck;
    this.root = new TreeNode(preemptionRequest.queue().node().root(), null, true, 0);
  }

  /** What is left of the candidates of a queue in a closed side; null if it isn't in any. */
  @Nullable CandidateIterator leftInClosedSide(QuotaNode queue) {
    TreeNode treeNode = inClosedSide(queue);
    return treeNode == null ? null : candidates(treeNode);
  }

  private @Nullable TreeNode inClosedSide(QuotaNode node) {
    TreeNode side = closedSides.get(node);
    QuotaNode above = node.parent();
    if (side != null || above == null) {
      return side;
    }
    TreeNode parent = inClosedSide(above);
    if (parent != null) {
      for (TreeNode child : children(parent)) {
        if (child.node == node) {
          return child;
        }
      }
    }
    return null;
  }

  /**
   * The children that may have candidates, listed at the first call: a child that borrows nothing
   * then doesn't borrow later, as targets only reduce usage. The highest share is first; the
   * position decides between equal shares. Each target changes the shares of one child of each
   * cohort, which then gets another place in the list.
   */
  private List<TreeNode> children(TreeNode treeNode) {
    List<TreeNode> known = treeNode.children;
    if (known == null) {
      known = new ArrayList<>();
      QuotaNode path = treeNode.onPath ? childOnPath(treeNode.node) : null;
      for (QuotaNode child : treeNode.node.children()) {
        boolean onPath = child == path;
        if (onPath || shares.of(child).borrowing()) {
          TreeNode below = new TreeNode(child, treeNode, onPath, known.size());
          if (onPath) {
            treeNode.childOnPath = below;
          }
          known.add(below);
        }
      }
      known.sort(this::compare);
      treeNode.children = known;
    }
    return known;
  }

  private int compare(TreeNode one, TreeNode two) {
    int byShare = share(two).compareTo(share(one));
    return byShare != 0 ? byShare : Integer.compare(one.position, two.position);
  }

  /** Moves the child whose share changed to its place. */
  private void reorder(@Nullable TreeNode cohort) {
    TreeNode changed = cohort == null ? null : cohort.changedChild;
    if (cohort == null || changed == null) {
      return;
    }
    cohort.changedChild = null;
    List<TreeNode> children = children(cohort);
    if (children.remove(changed)) {
      children.add(-1 - Collections.binarySearch(children, changed, this::compare), changed);
    }
  }

  /** The child of an ancestor of the preemptor's queue that is on the path to it. */
  private QuotaNode childOnPath(QuotaNode ancestor) {
    QuotaNode current = preemptionRequest.queue().node();
    while (current.parent() != ancestor) {
      current = Objects.requireNonNull(current.parent());
    }
    return current;
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
        remove(current.parent, current);
        current = root;
      }
    }
  }

  /** The child with the highest share; a cohort before a queue with an equal share. */
  private @Nullable TreeNode highestShare(TreeNode cohort) {
    List<TreeNode> children = children(cohort);
    reorder(cohort);
    closeDisallowed(cohort, children);
    while (!children.isEmpty()) {
      DominantResourceShare highest = share(children.getFirst());
      if (isExhausted(cohort, highest)) {
        children.forEach(side -> closedSides.put(side.node, side));
        children.clear();
        return null;
      }
      // Candidates decide among equal shares only.
      TreeNode best = null;
      for (TreeNode child : children) {
        if (share(child).compareTo(highest) != 0) {
          break;
        }
        best = best == null || isPreferred(child, best) ? child : best;
      }
      if (best == null || !isDone(best)) {
        return best;
      }
      remove(cohort, best);
    }
    return null;
  }

  private void remove(TreeNode cohort, TreeNode child) {
    children(cohort).remove(child);
    child.removed = true;
  }

  /**
   * Closes the sides whose shares don't allow any candidate, once the preemptor's side has no
   * candidates left. From then on the preemptor's share stays the same and the others only fall, so
   * these sides would all be visited in vain; without them, the order of the others is the same.
   */
  private void closeDisallowed(TreeNode cohort, List<TreeNode> children) {
    TreeNode preemptorSide = cohort.childOnPath;
    if (preemptorSide == null
        || cohort.closedDisallowed
        || !hasNoCandidates(preemptorSide)
        || ignoresShares.getAsBoolean()) {
      return;
    }
    cohort.closedDisallowed = true;
    DominantResourceShare own = share(preemptorSide);
    children.removeIf(
        side -> {
          boolean closes =
              side != preemptorSide && !sideCheck.mayAllow(side.node, own, share(side));
          if (closes) {
            closedSides.put(side.node, side);
          }
          return closes;
        });
  }

  private boolean hasNoCandidates(TreeNode preemptorSide) {
    return preemptorSide.removed || (preemptorSide.node.isQueue() && first(preemptorSide) == null);
  }

  /**
   * Whether no remaining side can be allowed: all have lower shares than the preemptor's side,
   * which has no candidates left.
   */
  private boolean isExhausted(TreeNode cohort, DominantResourceShare highest) {
    TreeNode preemptorSide = cohort.childOnPath;
    return preemptorSide != null
        && share(preemptorSide).compareTo(highest) > 0
        && !ignoresShares.getAsBoolean();
  }

  private boolean isDone(TreeNode treeNode) {
    return (treeNode.node.isQueue() && first(treeNode) == null)
        || (!treeNode.onPath && !share(treeNode).borrowing());
  }

  /** Whether a node comes before another one with an equal share. */
  private boolean isPreferred(TreeNode one, TreeNode two) {
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
