package dev.sluice.core.topology;

import java.util.Arrays;
import java.util.List;

/**
 * What Workloads use of one domain of the lowest level. The slot of a node is shared by the trees
 * of all flavors, so that flavors with the same nodes see each other's usage. A slot exists while
 * something uses the domain, even when the domain itself is gone. Confined to the scheduler thread.
 */
final class Slot {

  /**
   * Identity of a slot.
   *
   * @param flavor the flavor; empty when all flavors share the slot
   * @param values the values of the assignment's levels
   */
  record Key(String flavor, List<String> values) {}

  private static final long[] NONE = {};

  final Key key;
  int users;
  private long[] used = NONE;

  /** What the current search adds to the capacity, for trees that it builds. */
  private long[] addedCapacity = NONE;

  private TopologyTree[] trees = {};
  private int[] leaves = {};

  Slot(Key key) {
    this.key = key;
  }

  /** Names a leaf whose free capacity this usage reduces, and reduces it. */
  void attach(TopologyTree tree, int leaf) {
    for (int i = 0; i < used.length; i++) {
      if (used[i] != 0) {
        tree.use(leaf, i, used[i]);
      }
    }
    for (int i = 0; i < addedCapacity.length; i++) {
      if (addedCapacity[i] != 0) {
        tree.addCapacity(leaf, i, addedCapacity[i]);
      }
    }
    trees = Arrays.copyOf(trees, trees.length + 1);
    leaves = Arrays.copyOf(leaves, leaves.length + 1);
    trees[trees.length - 1] = tree;
    leaves[leaves.length - 1] = leaf;
  }

  /** Forgets the leaves of a tree. */
  void detach(TopologyTree tree) {
    int kept = 0;
    for (int i = 0; i < trees.length; i++) {
      if (trees[i] != tree) {
        trees[kept] = trees[i];
        leaves[kept++] = leaves[i];
      }
    }
    trees = Arrays.copyOf(trees, kept);
    leaves = Arrays.copyOf(leaves, kept);
  }

  boolean isUnused() {
    return users == 0 && trees.length == 0;
  }

  /** Adds to what is used; a negative amount takes it back. */
  void add(int resource, long amount) {
    if (resource >= used.length) {
      used = Arrays.copyOf(used, resource + 1);
    }
    used[resource] += amount;
    for (int i = 0; i < trees.length; i++) {
      trees[i].use(leaves[i], resource, amount);
    }
  }

  /** The leaf of a tree; -1 if the tree doesn't have the domain. */
  int leafIn(TopologyTree tree) {
    for (int i = 0; i < trees.length; i++) {
      if (trees[i] == tree) {
        return leaves[i];
      }
    }
    return -1;
  }

  /** The least that any of the leaves has free; 0 if the domain is gone. */
  long free(int resource) {
    long free = trees.length == 0 ? 0 : Long.MAX_VALUE;
    for (int i = 0; i < trees.length; i++) {
      free = Math.min(free, trees[i].free(leaves[i], resource));
    }
    return free;
  }

  /** Whether every leaf has so much free; false if the domain is gone. */
  boolean hasRoom(int resource, long amount) {
    for (int i = 0; i < trees.length; i++) {
      if (trees[i].free(leaves[i], resource) < amount) {
        return false;
      }
    }
    return trees.length > 0;
  }

  /** Changes what Workloads can use of every leaf, until the opposite change. */
  void addCapacity(int resource, long amount) {
    if (resource >= addedCapacity.length) {
      addedCapacity = Arrays.copyOf(addedCapacity, resource + 1);
    }
    addedCapacity[resource] += amount;
    for (int i = 0; i < trees.length; i++) {
      trees[i].addCapacity(leaves[i], resource, amount);
    }
  }
}
