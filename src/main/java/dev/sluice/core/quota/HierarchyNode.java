package dev.sluice.core.quota;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The position of a ClusterQueue or a cohort in the quota tree: its name, parent and children. The
 * quota of the position is in {@link QuotaNode}. Confined to one thread.
 */
abstract sealed class HierarchyNode permits QuotaNode {

  final String name;
  final boolean queue;
  @Nullable QuotaNode parent;
  final List<QuotaNode> children = new ArrayList<>();
  int height;

  HierarchyNode(String name, boolean queue) {
    this.name = name;
    this.queue = queue;
  }

  /** The name of the ClusterQueue or cohort. */
  public final String name() {
    return name;
  }

  /** Whether the node is a ClusterQueue. */
  public final boolean isQueue() {
    return queue;
  }

  /** The cohort above; null for a root. */
  public final @Nullable QuotaNode parent() {
    return parent;
  }

  /** This node, as the type that has its quota. */
  abstract QuotaNode self();

  /** The root of the tree; this node if it has no parent. */
  public final QuotaNode root() {
    QuotaNode node = self();
    while (node.parent != null) {
      node = node.parent;
    }
    return node;
  }

  /** Names from the root of the tree down to this node. */
  public final List<String> path() {
    List<String> names = new ArrayList<>();
    for (HierarchyNode node = this; node != null; node = node.parent) {
      names.add(node.name);
    }
    return names.reversed();
  }

  /** The child queues and cohorts, in the order of their names. */
  public final List<QuotaNode> children() {
    return Collections.unmodifiableList(children);
  }

  /**
   * 0 for a queue, 1 for a cohort that has only queues, otherwise one more than the height of its
   * highest child cohort.
   */
  public final int height() {
    return height;
  }

  /** Computes the height from the heights of the children. */
  final void computeHeight() {
    height = queue ? 0 : 1;
    for (HierarchyNode child : children) {
      height = Math.max(height, child.height + 1);
    }
  }

  /** Removes the node from its tree; its children have to be attached again, too. */
  final void removeFromTree() {
    parent = null;
    children.clear();
  }

  final void attach(QuotaNode child) {
    child.parent = self();
    children.add(child);
  }
}
