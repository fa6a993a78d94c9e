package dev.sluice.core.topology;

import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.PlacementRequest.Pods;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * How many pods fit into each domain of a tree, from the leaves up
 * (docs/topology.md#how-many-pods-fit). The arrays are by level and number of the domain, and are
 * reused by the next search in the same tree.
 */
final class Capacity {

  /** Stands for pods of which any number fits. */
  static final long MANY = 1L << 40;

  private final TopologyTree tree;

  /** Pods that fit, in whole units of inner layers. */
  final long[][] pods;

  /** Slices that fit; only down to the level of the slices. */
  final long[][] slices;

  /** Pods and slices that fit beside the leader; the same arrays if there is no leader. */
  long[][] podsBesideLeader;

  long[][] slicesBesideLeader;

  /** Whether the leader fits. */
  boolean[][] leads;

  /**
   * Whether the partial slice fits beside as many whole slices as fit; empty unless there is one.
   * Only down to the level of the slices.
   */
  boolean[][] sparePartial = {};

  /** Scores by preferred node affinity; empty unless they count. */
  long[][] scores = {};

  private long[] leafPods = {};

  Capacity(TopologyTree tree) {
    this.tree = tree;
    this.pods = arrays(tree);
    this.slices = arrays(tree);
    this.podsBesideLeader = pods;
    this.slicesBesideLeader = slices;
    this.leads = new boolean[0][];
  }

  private static long[][] arrays(TopologyTree tree) {
    long[][] arrays = new long[tree.levels()][];
    for (int i = 0; i < arrays.length; i++) {
      arrays[i] = new long[tree.size(i)];
    }
    return arrays;
  }

  /**
   * Counts what fits.
   *
   * @param closed leaves that don't count; only without leader
   */
  void count(
      PlacementRequest request,
      Levels levels,
      ToIntFunction<String> resources,
      boolean empty,
      boolean scored,
      boolean[] closed) {
    int last = tree.levels() - 1;
    Pods leader = request.leader();
    fits(request.pods(), resources, empty, null, pods[last]);
    exclude(closed, pods[last]);
    if (leader == null) {
      podsBesideLeader = pods;
      slicesBesideLeader = slices;
    } else {
      if (podsBesideLeader == pods) {
        podsBesideLeader = arrays(tree);
        slicesBesideLeader = arrays(tree);
        leads = new boolean[tree.levels()][];
      }
      leafPods = new long[tree.leaves()];
      fits(leader, resources, empty, null, leafPods);
      leads[last] = new boolean[tree.leaves()];
      for (int i = 0; i < leafPods.length; i++) {
        leads[last][i] = leafPods[i] > 0;
      }
      fits(request.pods(), resources, empty, leader, podsBesideLeader[last]);
      for (int i = 0; i < leafPods.length; i++) {
        if (!leads[last][i]) {
          podsBesideLeader[last][i] = pods[last][i];
        }
      }
    }
    int partial = leader == null ? request.pods().count() % levels.sliceSize() : 0;
    sparePartial = partial > 0 ? new boolean[levels.sliceLevel() + 1][] : new boolean[0][];
    for (int level = last; level >= 0; level--) {
      if (level < last) {
        sum(level, leader != null);
      }
      if (levels.rounds()[level]) {
        roundDown(pods[level], levels.units()[level]);
        if (leader != null) {
          roundDown(podsBesideLeader[level], levels.units()[level]);
        }
      }
      if (level <= levels.sliceLevel()) {
        sumSlices(level, levels, leader != null);
        if (partial > 0) {
          spare(level, levels, partial);
        }
      }
    }
    scores = scored ? scores(request.pods().constraints().preferred(), last) : new long[0][];
  }

  /** The units that fit into a domain: slices, or the units of the level below them. */
  long units(Levels levels, int level, int domain, boolean besideLeader) {
    if (level <= levels.sliceLevel()) {
      return besideLeader ? slicesBesideLeader[level][domain] : slices[level][domain];
    }
    long fit = besideLeader ? podsBesideLeader[level][domain] : pods[level][domain];
    int unit = levels.units()[level];
    return unit == 1 ? fit : fit / unit;
  }

  /**
   * The units that fit into a domain, of which the last one is a partial slice: that counts beside
   * whole slices where it fits there.
   */
  long unitsWithPartial(Levels levels, int level, int domain) {
    long whole = units(levels, level, domain, false);
    return hasSpare(level, domain) ? whole + 1 : whole;
  }

  /** Whether the partial slice fits beside as many whole slices as fit. */
  boolean hasSpare(int level, int domain) {
    return level < sparePartial.length && sparePartial[level][domain];
  }

  /** Where the partial slice fits beside whole ones. */
  private void spare(int level, Levels levels, int partial) {
    boolean[] spare = new boolean[tree.size(level)];
    if (level == levels.sliceLevel()) {
      for (int d = 0; d < spare.length; d++) {
        spare[d] = pods[level][d] % levels.sliceSize() >= partial;
      }
    } else {
      for (int c = 0; c < sparePartial[level + 1].length; c++) {
        spare[tree.parent(level + 1, c)] |= sparePartial[level + 1][c];
      }
    }
    sparePartial[level] = spare;
  }

  private void sum(int level, boolean withLeader) {
    long[] below = pods[level + 1];
    for (int d = 0; d < pods[level].length; d++) {
      long sum = 0;
      int to = tree.firstChild(level, d + 1);
      for (int c = tree.firstChild(level, d); c < to; c++) {
        sum += below[c];
      }
      pods[level][d] = sum;
    }
    if (withLeader) {
      leads[level] = new boolean[tree.size(level)];
      besideLeader(level, pods, podsBesideLeader);
    }
  }

  /** What fits beside a leader that is placed in the child that loses least by it. */
  private void besideLeader(int level, long[][] all, long[][] beside) {
    for (int d = 0; d < all[level].length; d++) {
      long loss = Long.MAX_VALUE;
      int to = tree.firstChild(level, d + 1);
      for (int c = tree.firstChild(level, d); c < to; c++) {
        if (leads[level + 1][c]) {
          leads[level][d] = true;
          loss = Math.min(loss, all[level + 1][c] - beside[level + 1][c]);
        }
      }
      beside[level][d] = leads[level][d] ? all[level][d] - loss : all[level][d];
    }
  }

  private void sumSlices(int level, Levels levels, boolean withLeader) {
    if (level == levels.sliceLevel()) {
      divide(pods[level], slices[level], levels.sliceSize());
      if (withLeader) {
        divide(podsBesideLeader[level], slicesBesideLeader[level], levels.sliceSize());
      }
      return;
    }
    long[] below = slices[level + 1];
    for (int d = 0; d < slices[level].length; d++) {
      long sum = 0;
      int to = tree.firstChild(level, d + 1);
      for (int c = tree.firstChild(level, d); c < to; c++) {
        sum += below[c];
      }
      slices[level][d] = sum;
    }
    if (withLeader) {
      besideLeader(level, slices, slicesBesideLeader);
    }
  }

  private static void divide(long[] from, long[] to, int size) {
    if (size == 1) {
      System.arraycopy(from, 0, to, 0, from.length);
      return;
    }
    for (int i = 0; i < from.length; i++) {
      to[i] = from[i] / size;
    }
  }

  private static void roundDown(long[] counts, int unit) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] -= counts[i] % unit;
    }
  }

  private void fits(
      Pods each,
      ToIntFunction<String> resources,
      boolean empty,
      @Nullable Pods before,
      long[] result) {
    countRoom(each, resources, empty, before, result);
    exclude(tree.closed(), result);
  }

  private static void exclude(boolean[] excluded, long[] result) {
    for (int i = 0; i < excluded.length; i++) {
      if (excluded[i]) {
        result[i] = 0;
      }
    }
  }

  private void countRoom(
      Pods each,
      ToIntFunction<String> resources,
      boolean empty,
      @Nullable Pods before,
      long[] result) {
    if (tree.judgesNodes()) {
      new NodeRoom(tree, resources, empty).count(each, before, result);
      return;
    }
    Arrays.fill(result, MANY);
    for (var request : each.perPod().entrySet()) {
      boolean isPods = request.getKey().equals("pods");
      if (!isPods) {
        limit(
            result,
            available(resources.applyAsInt(request.getKey()), empty),
            request.getValue(),
            amount(before, request.getKey()));
      }
    }
    limit(result, available(resources.applyAsInt("pods"), empty), 1, before == null ? 0 : 1);
    if (!tree.spec().endsAtNodes()) {
      return;
    }
    exclude(tree.filter().excluded(each.constraints()), result);
  }

  private long @Nullable [] available(int resource, boolean empty) {
    return empty ? tree.capacity(resource) : tree.free(resource);
  }

  static long amount(@Nullable Pods pods, String resource) {
    return pods == null ? 0 : Math.max(0, pods.perPod().getOrDefault(resource, 0L));
  }

  /**
   * Lowers numbers of pods to those for which there is enough of a resource.
   *
   * @param free what there is, by the same numbers; null if there is nothing
   * @param each what a pod requests
   * @param taken what isn't there for the pods
   */
  static void limit(long[] result, long @Nullable [] free, long each, long taken) {
    if (each <= 0) {
      return;
    }
    if (free == null) {
      Arrays.fill(result, 0);
      return;
    }
    double inverse = 1.0 / each;
    for (int i = 0; i < result.length; i++) {
      long left = free[i] - taken;
      if (left < each) {
        result[i] = 0;
      } else {
        long fit = left < 1L << 50 ? quotient(left, each, inverse) : left / each;
        if (fit < result[i]) {
          result[i] = fit;
        }
      }
    }
  }

  /** A division by multiplication, which is several times faster. */
  private static long quotient(long amount, long each, double inverse) {
    long guess = (long) (amount * inverse);
    long rest = amount - guess * each;
    return rest < 0 ? guess - 1 : rest >= each ? guess + 1 : guess;
  }

  /** The scores of leaves with room; that of a domain is the highest of its children. */
  private long[][] scores(List<PreferredNodes> preferred, int last) {
    long[][] result = arrays(tree);
    for (int i = 0; i < tree.leaves(); i++) {
      result[last][i] = pods[last][i] > 0 ? tree.filter().score(i, preferred) : 0;
    }
    for (int level = last - 1; level >= 0; level--) {
      for (int c = 0; c < result[level + 1].length; c++) {
        int parent = tree.parent(level + 1, c);
        result[level][parent] = Math.max(result[level][parent], result[level + 1][c]);
      }
    }
    return result;
  }

  /** The number of nodes that the pods can't run on. */
  int excluded(Pods pods) {
    int count = 0;
    if (tree.spec().endsAtNodes() || tree.judgesNodes()) {
      for (boolean each : tree.filter().excluded(pods.constraints())) {
        count += each ? 1 : 0;
      }
    }
    return count;
  }

  /**
   * How many pods fit into leaves of several nodes, when nodes are judged one by one
   * (docs/topology.md#domains-of-several-nodes). It is known which leaf the pods of Workloads are
   * in, and not which node: so a leaf has room for what its nodes could hold without any Workload,
   * and at most for what would be free if all Workloads were on the nodes that are open to the
   * pods.
   */
  private static final class NodeRoom {

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
                  limit(
                      result, resource, amount, Capacity.amount(before, resource), excluded, apart);
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

  /**
   * What a request means in a topology, by numbers of levels; 0 is the highest level.
   *
   * @param level the level at which a single domain is looked for first
   * @param sliceLevel the level whose domains hold whole slices
   * @param units the number of pods that are placed together, by level: the size of a slice down to
   *     the slices' level, then the size of the next inner layer down to its level, then 1
   * @param rounds whether the pods of a domain are rounded down to whole units, by level
   */
  record Levels(int level, int sliceLevel, int[] units, boolean[] rounds) {

    /** The levels of a request; null if the topology doesn't have them in the right order. */
    static @Nullable Levels of(TopologyRequest request, TopologySpec spec) {
      int last = spec.levels().size() - 1;
      int level =
          switch (request.mode()) {
            case REQUIRED, PREFERRED -> spec.levels().indexOf(request.level());
            case SLICES -> 0;
            case NONE, UNCONSTRAINED -> last;
          };
      int[] units = new int[last + 1];
      boolean[] rounds = new boolean[last + 1];
      int next = 0;
      int before = -1;
      int sliceLevel = last;
      for (TopologyRequest.Slice slice : request.slices()) {
        int at = spec.levels().indexOf(slice.level());
        boolean outermost = next == 0 && before < 0;
        if (at <= before || slice.size() < 1) {
          return null;
        }
        if (outermost) {
          sliceLevel = at;
        } else if (units[before] % slice.size() != 0) {
          return null;
        }
        while (next <= at) {
          units[next++] = slice.size();
        }
        rounds[at] = !outermost;
        before = at;
      }
      while (next <= last) {
        units[next++] = 1;
      }
      return level < 0 || sliceLevel < level ? null : new Levels(level, sliceLevel, units, rounds);
    }

    /** The number of pods of a slice. */
    int sliceSize() {
      return units[sliceLevel];
    }
  }
}
