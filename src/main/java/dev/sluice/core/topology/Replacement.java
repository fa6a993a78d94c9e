package dev.sluice.core.topology;

import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyOptions;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import dev.sluice.core.topology.PlacementRequest.Pods;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Replaces lost nodes of an assignment and keeps all others (docs/topology.md#when-a-node-is-lost).
 * For topologies whose lowest level is the hostname.
 */
final class Replacement {

  private final TopologyTree tree;
  private final Set<String> lost;

  /** Pods that stay, by leaf. */
  private final Map<Integer, Integer> kept = new TreeMap<>();

  private Replacement(TopologyTree tree, Set<String> lost) {
    this.tree = tree;
    this.lost = lost;
  }

  /**
   * Finds places for the pods of lost nodes.
   *
   * @param pods the pods of the pod set; the count doesn't matter
   * @param request what the pod set asks for
   * @param current the places so far
   * @param together the places of the other pod set of the group, which must be in the same domain;
   *     null without
   * @param lost names of the lost nodes
   * @return all places; null if a node that isn't lost is not in the tree
   */
  static @Nullable Placement replace(
      TopologyTree tree,
      TopologyOptions options,
      ToIntFunction<String> resources,
      Pods pods,
      TopologyRequest request,
      TopologyAssignment current,
      @Nullable TopologyAssignment together,
      Set<String> lost) {
    Replacement replacement = new Replacement(tree, lost);
    int missing = 0;
    for (TopologyAssignment.Domain domain : current.domains()) {
      String name = domain.values().getLast();
      int leaf = tree.leafOfHost(name);
      if (lost.contains(name)) {
        missing += domain.count();
      } else if (leaf < 0) {
        return null;
      } else {
        replacement.kept.put(leaf, domain.count());
      }
    }
    if (missing == 0) {
      return new Placement.Placed(current, null);
    }
    int anchor = replacement.anchor(together);
    Placement placement = replacement.place(options, resources, pods, request, missing, anchor);
    return placement instanceof Placement.Placed(var found, var leader)
        ? new Placement.Placed(replacement.merged(current, found), leader)
        : placement;
  }

  /** A leaf that stays; -1 if none does. */
  private int anchor(@Nullable TopologyAssignment together) {
    if (!kept.isEmpty()) {
      return kept.keySet().iterator().next();
    }
    if (together != null) {
      for (TopologyAssignment.Domain domain : together.domains()) {
        int leaf = tree.leafOfHost(domain.values().getLast());
        if (leaf >= 0 && !lost.contains(domain.values().getLast())) {
          return leaf;
        }
      }
    }
    return -1;
  }

  private Placement place(
      TopologyOptions options,
      ToIntFunction<String> resources,
      Pods pods,
      TopologyRequest request,
      int missing,
      int anchor) {
    int level = -1;
    int leaf = anchor;
    if (request.mode() == Mode.REQUIRED && anchor >= 0) {
      level = tree.spec().levels().indexOf(request.level());
    }
    List<TopologyRequest.Slice> layers = request.slices();
    while (!layers.isEmpty() && missing % layers.getFirst().size() != 0) {
      level = tree.spec().levels().indexOf(layers.getFirst().level());
      leaf = incomplete(level, layers.getFirst().size());
      layers = layers.subList(1, layers.size());
    }
    boolean[] closed = new boolean[tree.leaves()];
    for (int i = 0; i < closed.length; i++) {
      closed[i] =
          lost.contains(tree.value(tree.levels() - 1, i))
              || (level >= 0 && (leaf < 0 || !tree.isTogether(level, leaf, i)));
    }
    TopologyRequest rest =
        level < 0
            ? new TopologyRequest(request.mode(), request.level(), layers)
            : new TopologyRequest(Mode.REQUIRED, tree.spec().levels().get(level), layers);
    Pods lostPods = new Pods(missing, pods.perPod(), pods.constraints());
    return TopologyPlacer.place(
        tree, options, resources, new PlacementRequest(lostPods, null, rest), false, closed);
  }

  /** A leaf of the domain that lacks pods of a slice; -1 if no pod of that slice stays. */
  private int incomplete(int level, int size) {
    Map<Integer, Integer> sums = new HashMap<>();
    kept.forEach((leaf, pods) -> sums.merge(tree.ancestor(level, leaf), pods, Integer::sum));
    for (int leaf : kept.keySet()) {
      if (sums.getOrDefault(tree.ancestor(level, leaf), 0) % size != 0) {
        return leaf;
      }
    }
    return -1;
  }

  private TopologyAssignment merged(TopologyAssignment current, TopologyAssignment found) {
    Map<Integer, Integer> pods = new TreeMap<>(kept);
    for (TopologyAssignment.Domain domain : found.domains()) {
      pods.merge(tree.leafOfHost(domain.values().getLast()), domain.count(), Integer::sum);
    }
    List<TopologyAssignment.Domain> domains = new ArrayList<>(pods.size());
    pods.forEach(
        (leaf, count) -> domains.add(new TopologyAssignment.Domain(tree.idOf(leaf), count)));
    return new TopologyAssignment(current.levels(), domains);
  }
}
