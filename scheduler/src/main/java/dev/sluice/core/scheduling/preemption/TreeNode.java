package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cohort or queue of the tree that may have candidates below it, in one search. {@link
 * TargetQueueOrdering} changes it.
 */
final class TreeNode {
  final QuotaNode node;
  final @Nullable TreeNode parent;
  final boolean onPath;

  /**
   * The opened children that may have candidates: the highest share first; the position decides
   * between equal shares.
   */
  final List<TreeNode> opened = new ArrayList<>(0);

  /** The children that borrow; null until the cohort is visited. */
  @Nullable RankedChildren ranked;

  /** The index of the first child that isn't opened yet. */
  int nextRanked;

  @Nullable CandidateIterator candidateIterator;
  boolean candidatesKnown;
  @Nullable TreeNode childOnPath;
  @Nullable DominantResourceShare dominantResourceShare;

  /** Whether the node is no longer among the children that may have candidates. */
  boolean removed;

  /** Whether children that are not allowed are closed. */
  boolean closesDisallowed;

  /** The child whose share changed since the children were ordered; null if none did. */
  @Nullable TreeNode changedChild;

  TreeNode(QuotaNode node, @Nullable TreeNode parent, boolean onPath) {
    this.node = node;
    this.parent = parent;
    this.onPath = onPath;
  }
}
