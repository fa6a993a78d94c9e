package dev.sluice.core.topology;

import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
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

  /** The pods of the partial slice; 0 without. */
  private final int partial;

  /** Pods that stay, by leaf. */
  private final Map<Integer, Integer> kept = new TreeMap<>();

  private Replacement(TopologyTree tree, Set<String> lost, int partial) {
    this.tree = tree;
    this.lost = lost;
    this.partial = partial;
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
      PlacementRules rules,
      ToIntFunction<String> resources,
      Pods pods,
      TopologyRequest request,
      TopologyAssignment current,
      @Nullable TopologyAssignment together,
      Set<String> lost) {
    int partial =
        request.slices().size() == 1
            ? (int) (current.pods() % request.slices().getFirst().size())
            : 0;
    Replacement replacement = new Replacement(tree, lost, partial);
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
    Placement placement =
        request.slices().size() == 1 && partial == 0
            ? replacement.placeSlices(rules, resources, pods, request, missing, anchor)
            : replacement.place(rules, resources, pods, request, missing, anchor);
    return placement instanceof Placement.Placed(var found, var leader)
        ? new Placement.Placed(replacement.merged(current, found, request), leader)
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

  /**
   * Fills incomplete slices where they are, and places whole ones like any others. Several nodes
   * may be lost, so that several slices are incomplete.
   */
  private Placement placeSlices(
      PlacementRules rules,
      ToIntFunction<String> resources,
      Pods pods,
      TopologyRequest request,
      int missing,
      int anchor) {
    TopologyRequest.Slice slice = request.slices().getFirst();
    int level = tree.spec().levels().indexOf(slice.level());
    Map<Integer, Integer> sums = new TreeMap<>();
    kept.forEach((leaf, count) -> sums.merge(tree.ancestor(level, leaf), count, Integer::sum));
    sums.replaceAll((domain, count) -> (slice.size() - count % slice.size()) % slice.size());
    sums.values().removeIf(lacking -> lacking == 0);
    int whole = missing - sums.values().stream().mapToInt(Integer::intValue).sum();
    if (sums.isEmpty() || whole < 0 || whole % slice.size() != 0) {
      return place(rules, resources, pods, request, missing, anchor);
    }
    List<TopologyAssignment.Domain> found = new ArrayList<>();
    try {
      for (Map.Entry<Integer, Integer> each : sums.entrySet()) {
        boolean[] closed = new boolean[tree.leaves()];
        for (int i = 0; i < closed.length; i++) {
          closed[i] = isLost(i) || tree.ancestor(level, i) != each.getKey();
        }
        Pods lacking = new Pods(each.getValue(), pods.perPod(), pods.constraints());
        Placement placement =
            TopologyPlacer.place(
                tree,
                rules,
                resources,
                new PlacementRequest(lacking, null, TopologyRequest.required(slice.level())),
                false,
                closed);
        if (!(placement instanceof Placement.Placed placed)) {
          return placement;
        }
        placed.pods().domains().forEach(domain -> use(resources, pods, domain, 1));
        found.addAll(placed.pods().domains());
      }
      if (whole > 0) {
        Placement placement = place(rules, resources, pods, request, whole, anchor);
        if (!(placement instanceof Placement.Placed placed)) {
          return placement;
        }
        found.addAll(placed.pods().domains());
        placed.pods().domains().forEach(domain -> use(resources, pods, domain, 1));
      }
      return new Placement.Placed(
          new TopologyAssignment(tree.spec().assignedLevels(), found), null);
    } finally {
      found.forEach(domain -> use(resources, pods, domain, -1));
    }
  }

  private boolean isLost(int leaf) {
    return lost.contains(tree.value(tree.levels() - 1, leaf));
  }

  /** Counts what pods use of a node; with a negative sign, takes it back. */
  private void use(
      ToIntFunction<String> resources, Pods pods, TopologyAssignment.Domain domain, int sign) {
    int leaf = tree.leafOfHost(domain.values().getLast());
    long count = (long) sign * domain.count();
    pods.perPod()
        .forEach(
            (resource, amount) -> {
              if (!resource.equals("pods")) {
                tree.use(leaf, resources.applyAsInt(resource), Math.max(0, amount) * count);
              }
            });
    tree.use(leaf, resources.applyAsInt("pods"), count);
  }

  private Placement place(
      PlacementRules rules,
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
    if (partial > 0) {
      int slices = tree.spec().levels().indexOf(layers.getFirst().level());
      int beside = incomplete(slices, layers.getFirst().size());
      level = beside < 0 ? level : slices;
      leaf = beside < 0 ? leaf : beside;
      layers = beside < 0 ? layers : List.of();
    }
    while (partial == 0 && !layers.isEmpty() && missing % layers.getFirst().size() != 0) {
      level = tree.spec().levels().indexOf(layers.getFirst().level());
      leaf = incomplete(level, layers.getFirst().size());
      layers = layers.subList(1, layers.size());
    }
    boolean[] closed = new boolean[tree.leaves()];
    for (int i = 0; i < closed.length; i++) {
      closed[i] = isLost(i) || (level >= 0 && (leaf < 0 || !tree.isTogether(level, leaf, i)));
    }
    TopologyRequest rest =
        level < 0
            ? new TopologyRequest(request.mode(), request.level(), layers)
            : new TopologyRequest(Mode.REQUIRED, tree.spec().levels().get(level), layers);
    Pods lostPods = new Pods(missing, pods.perPod(), pods.constraints());
    return TopologyPlacer.place(
        tree, rules, resources, new PlacementRequest(lostPods, null, rest), false, closed);
  }

  /**
   * A leaf of the domain that lacks pods of a slice; -1 if no pod of that slice stays. A domain
   * that has all of the partial slice lacks nothing.
   */
  private int incomplete(int level, int size) {
    Map<Integer, Integer> sums = new HashMap<>();
    kept.forEach((leaf, pods) -> sums.merge(tree.ancestor(level, leaf), pods, Integer::sum));
    int whole = partial > 0 ? withPartial(sums, size) : -1;
    for (int leaf : kept.keySet()) {
      int domain = tree.ancestor(level, leaf);
      if (domain != whole && sums.getOrDefault(domain, 0) % size != 0) {
        return leaf;
      }
    }
    return -1;
  }

  /** The last domain that has just the pods of the partial slice beside whole ones; -1 without. */
  private int withPartial(Map<Integer, Integer> sums, int size) {
    int found = -1;
    for (Map.Entry<Integer, Integer> each : sums.entrySet()) {
      found = each.getValue() % size == partial ? Math.max(found, each.getKey()) : found;
    }
    return found;
  }

  /** All places; those in the domain of the partial slice come last. */
  private TopologyAssignment merged(
      TopologyAssignment current, TopologyAssignment found, TopologyRequest request) {
    Map<Integer, Integer> pods = new TreeMap<>(kept);
    for (TopologyAssignment.Domain domain : found.domains()) {
      pods.merge(tree.leafOfHost(domain.values().getLast()), domain.count(), Integer::sum);
    }
    List<TopologyAssignment.Domain> domains = new ArrayList<>(pods.size());
    List<TopologyAssignment.Domain> last = new ArrayList<>(0);
    int level = partial > 0 ? tree.spec().levels().indexOf(request.slices().getFirst().level()) : 0;
    Map<Integer, Integer> sums = new HashMap<>();
    pods.forEach((leaf, count) -> sums.merge(tree.ancestor(level, leaf), count, Integer::sum));
    int domain = partial > 0 ? withPartial(sums, request.slices().getFirst().size()) : -1;
    pods.forEach(
        (leaf, count) ->
            (tree.ancestor(level, leaf) == domain ? last : domains)
                .add(new TopologyAssignment.Domain(tree.idOf(leaf), count)));
    domains.addAll(last);
    return new TopologyAssignment(current.levels(), domains);
  }
}
