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
  private TopologyTree[] trees = {};
  private int[] leaves = {};

  Slot(Key key) {
    this.key = key;
  }

  /** What is used of a resource. */
  long used(int resource) {
    return resource < used.length ? used[resource] : 0;
  }

  /** The number of resources that may be used. */
  int resources() {
    return used.length;
  }

  /** Names a leaf whose free capacity this usage reduces. */
  void attach(TopologyTree tree, int leaf) {
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

  /** Whether every leaf has so much free; false if the domain is gone. */
  boolean hasRoom(int resource, long amount) {
    for (int i = 0; i < trees.length; i++) {
      if (trees[i].free(leaves[i], resource) < amount) {
        return false;
      }
    }
    return trees.length > 0;
  }

  /** Changes what Workloads can use of every leaf. */
  void addCapacity(int resource, long amount) {
    for (int i = 0; i < trees.length; i++) {
      trees[i].addCapacity(leaves[i], resource, amount);
    }
  }
}
