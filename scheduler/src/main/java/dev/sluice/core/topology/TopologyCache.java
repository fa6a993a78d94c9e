package dev.sluice.core.topology;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection.Crowding;
import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.model.WorkloadId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Topologies, nodes, and what is used of them. A tree is built for each flavor with a topology when
 * it is needed; it contains the usable nodes that have the flavor's labels and a label for each
 * level. Confined to the scheduler thread.
 */
public final class TopologyCache {

  private static final String PODS = "pods";

  /** How the usage of a node changes. */
  public enum UsageChange {
    /** Not at all, or the node doesn't matter. */
    NONE,
    /** Less is used of some resource: pods may find places. */
    LESS,
    /** More is used: places that were there may be gone. */
    MORE
  }

  private final TopologyOptions options;
  private final Map<String, TopologySpec> topologies = new HashMap<>();
  private final Map<String, ClusterNode> nodes = new TreeMap<>();
  private final Map<String, SortedMap<String, Long>> usedByOthers = new HashMap<>();
  private final Map<String, Flavor> flavors = new HashMap<>();
  private final Map<String, TopologyTree> trees = new HashMap<>();
  private final Map<Slot.Key, Slot> slots = new HashMap<>();
  private final Map<String, Integer> resources = new HashMap<>();

  /** The domains with nodes of a scope; forgotten when a node, a flavor or a topology changes. */
  private final Map<Scope.OfNodes, Set<Slot.Key>> domainsOf = new HashMap<>();

  private Set<Scope.OfNodes> closed = Set.of();

  private final SpreadGroups spreadGroups = new SpreadGroups(this::labelsOfHost);

  /** The labels of nodes by hostname; null until they are needed after a change of nodes. */
  private @Nullable Map<String, Map<String, String>> hosts;

  /** An empty cache. */
  public TopologyCache(TopologyOptions options) {
    this.options = options;
  }

  /** Topologies, nodes, and what others use of nodes, as a value. */
  public TopologyExport export() {
    String[] names = new String[resources.size()];
    resources.forEach((name, number) -> names[number] = name);
    return new TopologyExport(
        List.copyOf(new TreeMap<>(topologies).values()),
        List.copyOf(nodes.values()),
        usedByOthers,
        List.of(names),
        List.copyOf(new TreeSet<>(trees.keySet())));
  }

  /** Takes a state over, into a cache that is empty. */
  public void restore(TopologyExport exported, Collection<Flavor> declared) {
    exported.resources().forEach(this::resource);
    exported.topologies().forEach(topology -> topologies.put(topology.name(), topology));
    exported.nodes().forEach(node -> nodes.put(node.name(), node));
    usedByOthers.putAll(exported.usedByOthers());
    declared.forEach(flavor -> flavors.put(flavor.name(), flavor));
    exported.trees().forEach(this::tree);
  }

  /** The usage that a value stands for, which doesn't count until it is added. */
  public TopologyUsage restore(TopologyExport.Usage usage) {
    return TopologyUsage.restored(usage.domains(), key -> slots.computeIfAbsent(key, Slot::new))
        .of(
            usage.groups().stream()
                .map(each -> new SpreadGroups.Group(each.member(), each.assignment()))
                .toList(),
            spreadGroups);
  }

  private Map<String, String> labelsOfHost(String name) {
    if (hosts == null) {
      Map<String, Map<String, String>> all = new HashMap<>();
      for (ClusterNode node : nodes.values()) {
        String host = node.labels().get(TopologySpec.HOSTNAME);
        if (host != null) {
          all.putIfAbsent(host, node.labels());
        }
      }
      hosts = all;
    }
    return hosts.getOrDefault(name, Map.of());
  }

  /** The options. */
  public TopologyOptions options() {
    return options;
  }

  /** Sets a topology; returns whether anything changed. */
  public boolean set(TopologySpec topology) {
    if (topology.equals(topologies.put(topology.name(), topology))) {
      return false;
    }
    domainsOf.clear();
    dropTreesOf(topology.name());
    return true;
  }

  /** Removes a topology; returns whether there was one. */
  public boolean removeTopology(String name) {
    if (topologies.remove(name) == null) {
      return false;
    }
    domainsOf.clear();
    dropTreesOf(name);
    return true;
  }

  private void dropTreesOf(String topology) {
    flavors.values().stream()
        .filter(flavor -> flavor.topology().equals(topology))
        .forEach(flavor -> dropTree(flavor.name()));
  }

  private void dropTree(String flavor) {
    TopologyTree tree = trees.remove(flavor);
    if (tree != null) {
      slots.values().forEach(slot -> slot.detach(tree));
      slots.values().removeIf(Slot::isUnused);
    }
  }

  /** Sets a flavor. */
  public void set(Flavor flavor) {
    if (!flavor.equals(flavors.put(flavor.name(), flavor))) {
      domainsOf.clear();
      dropTree(flavor.name());
    }
  }

  /** Removes a flavor. */
  public void removeFlavor(String name) {
    flavors.remove(name);
    domainsOf.clear();
    dropTree(name);
  }

  /**
   * Sets a node; returns whether a flavor with a topology has or had it, and it changed. That one
   * is unusable doesn't matter: pods may still be there, and its labels count for the shares of
   * their groups. A tree is kept when nothing changed but labels that name none of its domains.
   */
  public boolean set(ClusterNode node) {
    ClusterNode before = nodes.put(node.name(), node);
    hosts = null;
    return !node.equals(before) && changed(before, node);
  }

  /** Removes a node; returns whether a flavor with a topology had it. */
  public boolean removeNode(String name) {
    hosts = null;
    return changed(nodes.remove(name), null);
  }

  private boolean changed(@Nullable ClusterNode before, @Nullable ClusterNode after) {
    domainsOf.clear();
    boolean any = false;
    for (Flavor flavor : flavors.values()) {
      boolean had = isMember(before, flavor);
      boolean has = isMember(after, flavor);
      any |= belongsTo(before, flavor) || belongsTo(after, flavor);
      if (!had && !has) {
        continue;
      }
      TopologyTree tree = trees.get(flavor.name());
      if (tree == null
          || before == null
          || after == null
          || !had
          || !has
          || !tree.replace(before, after)) {
        dropTree(flavor.name());
      }
    }
    return any;
  }

  private boolean isMember(@Nullable ClusterNode node, Flavor flavor) {
    return node != null && node.usable() && belongsTo(node, flavor);
  }

  private boolean belongsTo(@Nullable ClusterNode node, Flavor flavor) {
    return node != null && isTopologyFlavor(flavor) && hasLabels(node, flavor);
  }

  private static boolean hasLabels(ClusterNode node, Flavor flavor) {
    return node.labels().entrySet().containsAll(flavor.nodeLabels().entrySet());
  }

  /**
   * Sets what pods that aren't placed by topology use of a node.
   *
   * @return what that means for the nodes that trees contain
   */
  public UsageChange setUsage(String node, SortedMap<String, Long> used) {
    SortedMap<String, Long> before =
        used.isEmpty() ? usedByOthers.remove(node) : usedByOthers.put(node, used);
    if (used.equals(before)) {
      return UsageChange.NONE;
    }
    SortedMap<String, Long> change = new TreeMap<>(used);
    if (before != null) {
      before.forEach((resource, amount) -> change.merge(resource, -amount, Long::sum));
    }
    boolean less = false;
    boolean inTree = false;
    for (Map.Entry<String, Long> each : change.entrySet()) {
      less |= each.getValue() < 0;
      for (TopologyTree tree : trees.values()) {
        int leaf = tree.leafOf(node);
        inTree |= leaf >= 0;
        if (leaf >= 0 && each.getValue() != 0) {
          tree.addCapacity(node, resource(each.getKey()), -each.getValue());
        }
      }
    }
    if (!inTree) {
      return UsageChange.NONE;
    }
    return less ? UsageChange.LESS : UsageChange.MORE;
  }

  /** Whether the nodes of a flavor are assigned by topology. */
  public boolean isTopologyFlavor(@Nullable Flavor flavor) {
    return options.enabled() && flavor != null && !flavor.topology().isEmpty();
  }

  /** Whether the nodes of the flavor with this name are assigned by topology. */
  public boolean isTopologyFlavor(String flavorName) {
    return isTopologyFlavor(flavors.get(flavorName));
  }

  /** A topology; null if it doesn't exist. */
  public @Nullable TopologySpec topology(String name) {
    return topologies.get(name);
  }

  /** The tree of a flavor; null if the flavor has no topology, or the topology doesn't exist. */
  public @Nullable TopologyTree tree(String flavorName) {
    TopologyTree existing = trees.get(flavorName);
    Flavor flavor = flavors.get(flavorName);
    if (existing != null || flavor == null) {
      return existing;
    }
    TopologySpec spec = topologies.get(flavor.topology());
    if (spec == null || spec.levels().isEmpty()) {
      return null;
    }
    TopologyTree tree = build(flavor, spec);
    trees.put(flavorName, tree);
    tree.close(closedLeaves(tree, flavorName));
    return tree;
  }

  /**
   * Closes nodes to the searches that follow, and opens all others. Of a domain with several nodes
   * nobody knows which of them pods run on, so that it is closed if one of them is.
   */
  public void close(Set<Scope.OfNodes> scopes) {
    if (!closed.equals(scopes)) {
      closed = scopes;
      trees.forEach((flavor, tree) -> tree.close(closedLeaves(tree, flavor)));
    }
  }

  private boolean[] closedLeaves(TopologyTree tree, String flavor) {
    if (closed.isEmpty()) {
      return NodeFilter.NONE;
    }
    boolean[] leaves = new boolean[tree.leaves()];
    for (int leaf = 0; leaf < leaves.length; leaf++) {
      Slot.Key key = key(flavor, tree.spec().endsAtNodes(), tree.idOf(leaf));
      for (Scope.OfNodes scope : closed) {
        leaves[leaf] |= domainsOf(scope).contains(key);
      }
    }
    return leaves;
  }

  /** Whether a usage is in a domain with nodes of a scope. */
  public boolean areOn(TopologyUsage topologyUsage, Scope.OfNodes scope) {
    return topologyUsage.isIn(domainsOf(scope));
  }

  private Set<Slot.Key> domainsOf(Scope.OfNodes scope) {
    return domainsOf.computeIfAbsent(scope, this::findDomains);
  }

  private Set<Slot.Key> findDomains(Scope.OfNodes scope) {
    Set<Slot.Key> domains = new HashSet<>();
    for (ClusterNode node : nodes.values()) {
      if (scope.includes(node.labels())) {
        for (Flavor flavor : flavors.values()) {
          TopologySpec spec = topologies.get(flavor.topology());
          if (spec != null && hasLabels(node, flavor)) {
            // A missing label is no domain's value.
            List<String> values =
                spec.assignedLevels().stream()
                    .map(level -> node.labels().getOrDefault(level, ""))
                    .toList();
            domains.add(key(flavor.name(), spec.endsAtNodes(), values));
          }
        }
      }
    }
    return domains;
  }

  /**
   * What the nodes of a flavor have, and what is used of them; empty if the flavor has no topology,
   * or the topology doesn't exist. Cost: proportional to the nodes and the Workloads.
   *
   * @param holders what Workloads use
   */
  public Optional<TopologyView> view(String flavorName, Map<WorkloadId, TopologyUsage> holders) {
    TopologyTree tree = isTopologyFlavor(flavorName) ? tree(flavorName) : null;
    if (tree == null) {
      return Optional.empty();
    }
    List<List<TopologyView.HeldPods>> held = new ArrayList<>();
    for (int i = 0; i < tree.leaves(); i++) {
      held.add(new ArrayList<>(1));
    }
    holders.forEach(
        (id, usage) ->
            usage
                .in(tree, resource(PODS))
                .forEach((leaf, pods) -> held.get(leaf).add(new TopologyView.HeldPods(id, pods))));
    List<TopologyView.Leaf> leaves = new ArrayList<>(tree.leaves());
    for (int i = 0; i < tree.leaves(); i++) {
      leaves.add(
          new TopologyView.Leaf(
              tree.valuesOf(i), tree.nodesOf(i).size(), amounts(tree, i), held.get(i)));
    }
    return Optional.of(
        new TopologyView(flavorName, tree.spec().name(), tree.spec().levels(), leaves));
  }

  private SortedMap<String, TopologyView.Amounts> amounts(TopologyTree tree, int leaf) {
    SortedMap<String, Long> allocatable = new TreeMap<>();
    for (ClusterNode node : tree.nodesOf(leaf)) {
      node.allocatable()
          .forEach((resource, amount) -> allocatable.merge(resource, amount, Long::sum));
    }
    SortedMap<String, TopologyView.Amounts> amounts = new TreeMap<>();
    allocatable.forEach(
        (resource, amount) -> {
          int number = resource(resource);
          long[] capacity = tree.capacity(number);
          long forWorkloads = capacity == null ? 0 : capacity[leaf];
          amounts.put(
              resource,
              new TopologyView.Amounts(
                  amount, amount - forWorkloads, forWorkloads - tree.free(leaf, number)));
        });
    return amounts;
  }

  private TopologyTree build(Flavor flavor, TopologySpec spec) {
    List<ClusterNode> members = new ArrayList<>();
    for (ClusterNode node : nodes.values()) {
      if (node.usable() && hasLabels(node, flavor)) {
        members.add(node);
      }
    }
    TopologyTree tree =
        new TopologyTree(spec, flavor.tolerations(), members, options.placement().eachNode());
    for (int leaf = 0; leaf < tree.leaves(); leaf++) {
      for (ClusterNode node : tree.nodesOf(leaf)) {
        for (Map.Entry<String, Long> each : node.allocatable().entrySet()) {
          tree.addCapacity(node.name(), resource(each.getKey()), each.getValue());
        }
        for (Map.Entry<String, Long> each :
            usedByOthers.getOrDefault(node.name(), new TreeMap<>()).entrySet()) {
          tree.addCapacity(node.name(), resource(each.getKey()), -each.getValue());
        }
      }
      slot(flavor.name(), spec.endsAtNodes(), tree.idOf(leaf)).attach(tree, leaf);
    }
    return tree;
  }

  private Slot slot(String flavor, boolean ofNode, List<String> values) {
    return slots.computeIfAbsent(key(flavor, ofNode, values), Slot::new);
  }

  private Slot.Key key(String flavor, boolean ofNode, List<String> values) {
    return new Slot.Key(ofNode && options.sharedHosts() ? "" : flavor, values);
  }

  /** The number of a resource. */
  int resource(String name) {
    Integer number = resources.get(name);
    if (number == null) {
      number = resources.size();
      resources.put(name, number);
    }
    return number;
  }

  /**
   * The usage of pod sets in their domains, which doesn't count until it is added; null if no pod
   * set has a place.
   */
  public @Nullable TopologyUsage usage(List<PodSetAssignment> podSets) {
    Map<Slot, long[]> bySlot = null;
    List<SpreadGroups.Group> groups = List.of();
    for (PodSetAssignment podSet : podSets) {
      TopologyAssignment assignment = podSet.topology().assignment().orElse(null);
      String flavor = assignment == null ? null : topologyFlavor(podSet);
      if (assignment == null || flavor == null) {
        continue;
      }
      bySlot = bySlot == null ? new LinkedHashMap<>() : bySlot;
      addTo(bySlot, flavor, assignment, podSet.topology().perPod());
      groups = with(groups, podSet.topology());
    }
    return bySlot == null ? null : TopologyUsage.of(bySlot).of(groups, spreadGroups);
  }

  private static List<SpreadGroups.Group> with(
      List<SpreadGroups.Group> groups, PodSetTopology topology) {
    if (topology.member().isEmpty() || topology.assignment().isEmpty()) {
      return groups;
    }
    List<SpreadGroups.Group> more = new ArrayList<>(groups);
    more.add(new SpreadGroups.Group(topology.member().get(), topology.assignment().get()));
    return more;
  }

  /** The usage of a pod set with places in a flavor, which doesn't count until it is added. */
  public TopologyUsage usage(String flavor, PodSetTopology topology) {
    return usage(flavor, topology.assignment().orElseThrow(), topology.perPod())
        .of(with(List.of(), topology), spreadGroups);
  }

  /**
   * A usage whose places are right only as long as the groups of other Workloads are those that
   * count at the moment.
   *
   * @param flavors the flavor of each request that has places
   */
  public TopologyUsage asLongAsGroupsAreThere(
      TopologyUsage usage, Map<TopologyRequest, String> flavors) {
    List<SpreadGroups.Found> found = new ArrayList<>();
    flavors.forEach(
        (request, flavor) -> {
          TopologyTree tree = tree(flavor);
          if (tree != null) {
            request.spreading().ifPresent(each -> found.addAll(spreadGroups.found(tree, each)));
          }
        });
    return usage.asLongAs(found, spreadGroups);
  }

  /** The usage of pods in the domains of a flavor, which doesn't count until it is added. */
  public TopologyUsage usage(
      String flavor, TopologyAssignment assignment, SortedMap<String, Long> perPod) {
    Map<Slot, long[]> bySlot = new LinkedHashMap<>();
    addTo(bySlot, flavor, assignment, perPod);
    return TopologyUsage.of(bySlot);
  }

  /** The flavor whose domains a pod set is in; null if it has no flavor. */
  private @Nullable String topologyFlavor(PodSetAssignment podSet) {
    String any = null;
    for (String name : podSet.flavors().values()) {
      if (isTopologyFlavor(flavors.get(name))) {
        return name;
      }
      any = name;
    }
    return any;
  }

  private void addTo(
      Map<Slot, long[]> bySlot,
      String flavor,
      TopologyAssignment assignment,
      SortedMap<String, Long> perPod) {
    for (TopologyAssignment.Domain domain : assignment.domains()) {
      Slot slot = slot(flavor, assignment.isOfNodes(), domain.values());
      perPod.forEach(
          (resource, each) -> {
            if (!resource.equals(PODS)) {
              add(bySlot, slot, resource, ResourceAmounts.multiply(each, domain.count()));
            }
          });
      add(bySlot, slot, PODS, domain.count());
    }
  }

  private void add(Map<Slot, long[]> bySlot, Slot slot, String resource, long amount) {
    int number = resource(resource);
    bySlot.compute(
        slot,
        (key, before) -> {
          long[] sums =
              before == null
                  ? new long[number + 1]
                  : before.length <= number ? Arrays.copyOf(before, number + 1) : before;
          sums[number] = ResourceAmounts.add(sums[number], Math.max(0, amount));
          return sums;
        });
  }

  /** Whether a topology has the levels that a request names, in the right order. */
  public static boolean hasLevels(TopologyRequest request, TopologySpec spec) {
    return TopologyPlacer.hasLevels(request, spec);
  }

  /**
   * Finds places for pods in the domains of a flavor, with the usage that counts at the moment.
   *
   * @param empty whether what Workloads use is ignored
   * @throws IllegalArgumentException when the tree lacks a level of the request
   */
  public Placement place(TopologyTree tree, PlacementRequest request, boolean empty) {
    Spreading spreading = request.topology().spreading().orElse(null);
    return spreading == null || spreading.rules().isEmpty()
        ? placeAnywhere(tree, request, empty)
        : placeSpread(tree, request, spreading, empty);
  }

  private Placement placeAnywhere(TopologyTree tree, PlacementRequest request, boolean empty) {
    return TopologyPlacer.place(tree, options.placement(), this::resource, ruled(request), empty);
  }

  private Placement placeSpread(
      TopologyTree tree, PlacementRequest request, Spreading spreading, boolean empty) {
    boolean[] before = tree.closed();
    Optional<TopologyShortage> shortage = Optional.empty();
    try {
      for (boolean[] closing : spreadGroups.closings(tree, spreading, empty)) {
        tree.close(SpreadGroups.together(closing, before));
        switch (placeAnywhere(tree, request, empty)) {
          case Placement.Placed placed -> {
            return placed;
          }
          case Placement.Failed failed -> shortage = Optional.of(failed.shortage());
        }
      }
    } finally {
      tree.close(before);
    }
    Placement anywhere = placeAnywhere(tree, request, empty);
    return anywhere instanceof Placement.Placed && shortage.isPresent()
        ? new Placement.Failed(shortage.get(), spreadGroups.crowding(tree, spreading, empty))
        : anywhere;
  }

  /**
   * Whether pods can't run on some nodes of a tree in which nodes are judged one by one. What
   * Workloads use is known of domains alone, so their places are safe only as long as at least as
   * much is free there as when they were found.
   */
  public boolean isRestricted(TopologyTree tree, PlacementRequest request) {
    PlacementRequest.Pods leader = ruled(request).leader();
    return tree.judgesNodes()
        && (isRestricted(tree, request.pods()) || (leader != null && isRestricted(tree, leader)));
  }

  private static boolean isRestricted(TopologyTree tree, PlacementRequest.Pods pods) {
    return tree.filter().excluded(pods.constraints()).length > 0;
  }

  private PlacementRequest ruled(PlacementRequest request) {
    return options.placement().leaderLikeWorkers() ? request.withLeaderLikePods() : request;
  }

  /**
   * Finds places for the pods of lost nodes, and keeps all others
   * (docs/topology.md#when-a-node-is-lost); the usage of the pod set has to count.
   *
   * @param current the places so far
   * @param together the places of the other pod set of the group; null without
   * @param lost names of the lost nodes
   * @return all places; null if the places that stay don't exist any more
   */
  public @Nullable Placement replace(
      TopologyTree tree,
      PlacementRequest.Pods pods,
      TopologyRequest request,
      TopologyAssignment current,
      @Nullable TopologyAssignment together,
      Set<String> lost) {
    return Replacement.replace(
        tree, options.placement(), this::resource, pods, request, current, together, lost);
  }

  /** The result of a search for places. */
  public sealed interface Placement {

    /**
     * Places for all pods.
     *
     * @param pods the places of the pods
     * @param leader the place of the leader; null without leader
     */
    record Placed(TopologyAssignment pods, @Nullable TopologyAssignment leader)
        implements Placement {}

    /**
     * There is no room.
     *
     * @param crowding the rules that keep the pods from domains with room; empty without
     */
    record Failed(TopologyShortage shortage, List<Crowding> crowding) implements Placement {

      public Failed {
        crowding = List.copyOf(crowding);
      }

      /** There is no room, whatever other groups there are. */
      Failed(TopologyShortage shortage) {
        this(shortage, List.of());
      }
    }
  }
}
