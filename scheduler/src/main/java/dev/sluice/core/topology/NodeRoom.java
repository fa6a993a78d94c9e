package dev.sluice.core.topology;

import dev.sluice.core.topology.PlacementRequest.Pods;
import java.util.Arrays;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many pods fit into leaves of several nodes, when nodes are judged one by one
 * (docs/topology.md#domains-of-several-nodes). It is known which leaf the pods of Workloads are in,
 * and not which node: so a leaf has room for what its nodes could hold without any Workload, and at
 * most for what would be free if all Workloads were on the nodes that are open to the pods.
 */
final class NodeRoom {

  private static final String PODS = "pods";

  private final TopologyTree tree;
  private final ToIntFunction<String> resources;
  private final boolean empty;

  /**
   * A count of pods in a tree.
   *
   * @param resources numbers of resources
   * @param empty whether what Workloads use is ignored
   */
  NodeRoom(TopologyTree tree, ToIntFunction<String> resources, boolean empty) {
    this.tree = tree;
    this.resources = resources;
    this.empty = empty;
  }

  /**
   * Counts pods by leaf.
   *
   * @param before a pod that is placed in the leaf before them, on the node where they lose least
   *     by it; null without. Where it has no room, the result means nothing.
   */
  void count(Pods pods, @Nullable Pods before, long[] result) {
    boolean[] excluded = tree.filter().excluded(pods.constraints());
    long[] byNode = byNode(pods, null, excluded);
    long[] beside = before == null ? byNode : byNode(pods, before, excluded);
    long[] hosts =
        before == null
            ? byNode
            : byNode(before, null, tree.filter().excluded(before.constraints()));
    long[] sums = new long[result.length];
    boolean[] apart = new boolean[result.length];
    for (int leaf = 0; leaf < result.length; leaf++) {
      long loss = before == null ? 0 : Long.MAX_VALUE;
      for (int node = tree.firstNode(leaf); node < tree.firstNode(leaf + 1); node++) {
        sums[leaf] += byNode[node];
        if (before != null && hosts[node] > 0) {
          loss = Math.min(loss, byNode[node] - beside[node]);
          apart[leaf] |= excluded.length > 0 && excluded[node];
        }
      }
      sums[leaf] = loss == Long.MAX_VALUE ? 0 : sums[leaf] - loss;
    }
    Arrays.fill(result, Capacity.MANY);
    pods.perPod()
        .forEach(
            (resource, amount) -> {
              if (!resource.equals(PODS)) {
                limit(result, resource, amount, Capacity.amount(before, resource), excluded, apart);
              }
            });
    limit(result, PODS, 1, before == null ? 0 : 1, excluded, apart);
    for (int leaf = 0; leaf < result.length; leaf++) {
      result[leaf] = Math.min(result[leaf], sums[leaf]);
    }
  }

  /** The pods that fit on each node, when nothing but another pod is there. */
  private long[] byNode(Pods pods, @Nullable Pods before, boolean[] excluded) {
    long[] result = new long[tree.firstNode(tree.leaves())];
    Arrays.fill(result, Capacity.MANY);
    pods.perPod()
        .forEach(
            (resource, amount) -> {
              if (!resource.equals(PODS)) {
                Capacity.limit(
                    result,
                    tree.nodeCapacity(resources.applyAsInt(resource)),
                    amount,
                    Capacity.amount(before, resource));
              }
            });
    Capacity.limit(
        result, tree.nodeCapacity(resources.applyAsInt(PODS)), 1, before == null ? 0 : 1);
    for (int node = 0; node < excluded.length; node++) {
      if (excluded[node]) {
        result[node] = 0;
      }
    }
    return result;
  }

  /**
   * Lowers numbers of pods to those for which enough is free in their leaf, without the excluded
   * nodes.
   *
   * @param taken what the pod that is placed before requests
   * @param apart whether that pod is on an excluded node, by leaf
   */
  private void limit(
      long[] result, String name, long each, long taken, boolean[] excluded, boolean[] apart) {
    int resource = resources.applyAsInt(name);
    long[] available = empty ? tree.capacity(resource) : tree.free(resource);
    long[] ofNodes = tree.nodeCapacity(resource);
    if (available == null || ofNodes == null || (excluded.length == 0 && taken == 0)) {
      Capacity.limit(result, available, each, 0);
      return;
    }
    long[] open = available.clone();
    for (int leaf = 0; leaf < open.length; leaf++) {
      open[leaf] -= apart[leaf] ? 0 : taken;
      for (int node = tree.firstNode(leaf);
          excluded.length > 0 && node < tree.firstNode(leaf + 1);
          node++) {
        // Where others use more than the node has, nobody else has more by that.
        open[leaf] -= excluded[node] ? Math.max(0, ofNodes[node]) : 0;
      }
    }
    Capacity.limit(result, open, each, 0);
  }
}
