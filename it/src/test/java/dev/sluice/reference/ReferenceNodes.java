package dev.sluice.reference;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.TopologyOptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Topologies and nodes as they were declared, and what pods that nobody placed use of nodes. */
final class ReferenceNodes {

  /**
   * What a Workload uses of one domain.
   *
   * @param ofNode whether the domain is named by a hostname alone
   * @param spread what it is counted as where groups are spread
   */
  record Use(
      String flavor,
      boolean ofNode,
      List<String> values,
      SortedMap<String, Long> amounts,
      Optional<ReferenceSpreading.Part> spread) {

    /** The same of pods whose amounts are counted elsewhere. */
    Use asGroupOnly() {
      return new Use(flavor, ofNode, values, new TreeMap<>(), spread);
    }
  }

  final TopologyOptions options;
  final TopologyFlaw flaw;
  final Map<String, TopologySpec> topologies = new TreeMap<>();

  /** The nodes on which nobody is placed at the moment. */
  Set<Scope.OfNodes> closed = Set.of();

  private final Map<String, Flavor> flavors;
  private final Map<String, ClusterNode> nodes = new TreeMap<>();
  private final Map<String, SortedMap<String, Long>> others = new TreeMap<>();

  /**
   * @param flaw a rule that is broken
   * @param flavors those that exist
   */
  ReferenceNodes(TopologyOptions options, TopologyFlaw flaw, Map<String, Flavor> flavors) {
    this.flaw = flaw;
    this.options = options;
    this.flavors = flavors;
  }

  /** Whether nodes of this flavor are assigned. */
  boolean isTopologyFlavor(String name) {
    Flavor flavor = flavors.get(name);
    return options.enabled() && flavor != null && !flavor.topology().isEmpty();
  }

  /** The topology of a flavor. */
  Optional<TopologySpec> topologyOf(String flavor) {
    return Optional.ofNullable(flavors.get(flavor))
        .flatMap(known -> Optional.ofNullable(topologies.get(known.topology())));
  }

  /** A node appears or changes; whether somebody may find room by that. */
  boolean set(ClusterNode node) {
    ClusterNode before = nodes.put(node.name(), node);
    return !node.equals(before) && (concerns(node) || (before != null && concerns(before)));
  }

  /** A node goes; whether that concerns anybody. */
  boolean remove(String name) {
    ClusterNode before = nodes.remove(name);
    return before != null && concerns(before);
  }

  /** An unusable node concerns those whose groups have pods there: by its labels they spread. */
  private boolean concerns(ClusterNode node) {
    return flavors.values().stream()
        .anyMatch(flavor -> isTopologyFlavor(flavor.name()) && has(flavor, node));
  }

  private static boolean has(Flavor flavor, ClusterNode node) {
    return has(flavor.nodeLabels(), node);
  }

  private static boolean has(Map<String, String> labels, ClusterNode node) {
    return labels.entrySet().stream()
        .allMatch(label -> label.getValue().equals(node.labels().get(label.getKey())));
  }

  /** Whether pods that nobody placed use anything else than before of a node that counts. */
  boolean matters(SchedulerEvent.NodeUsageChanged changed) {
    ClusterNode node = nodes.get(changed.node());
    return node != null
        && isPlace(node)
        && !changed.used().equals(others.getOrDefault(changed.node(), new TreeMap<>()));
  }

  /** Pods that nobody placed use this of a node; whether it is less of anything than before. */
  boolean use(SchedulerEvent.NodeUsageChanged changed) {
    SortedMap<String, Long> before = others.getOrDefault(changed.node(), new TreeMap<>());
    others.put(changed.node(), changed.used());
    ClusterNode node = nodes.get(changed.node());
    return node != null
        && isPlace(node)
        && before.entrySet().stream()
            .anyMatch(each -> each.getValue() > changed.used().getOrDefault(each.getKey(), 0L));
  }

  /** Whether a flavor's pods may be placed there: the node has all levels of its topology. */
  private boolean isPlace(ClusterNode node) {
    return node.usable()
        && flavors.values().stream()
            .filter(flavor -> isTopologyFlavor(flavor.name()) && has(flavor, node))
            .anyMatch(
                flavor ->
                    topologyOf(flavor.name())
                        .flatMap(spec -> ReferenceTopology.path(spec.levels(), node))
                        .isPresent());
  }

  /** The nodes of a flavor that aren't closed, nor in one domain with one that is. */
  List<ClusterNode> open(Flavor flavor) {
    return members(flavor).stream()
        .filter(
            node ->
                closed.stream()
                    .noneMatch(
                        scope ->
                            topologyOf(flavor.name())
                                .map(
                                    spec ->
                                        isIn(
                                            scope,
                                            flavor.name(),
                                            values(spec, node),
                                            spec.endsAtNodes()))
                                .orElse(false)))
        .toList();
  }

  private static List<String> values(TopologySpec spec, ClusterNode node) {
    return spec.assignedLevels().stream()
        .map(level -> node.labels().getOrDefault(level, ""))
        .toList();
  }

  /** Whether a domain of a flavor has a node of a scope. */
  private boolean isIn(Scope.OfNodes scope, String flavor, List<String> values, boolean ofNode) {
    return flavors.values().stream()
        .filter(other -> other.name().equals(flavor) || (ofNode && options.sharedHosts()))
        .filter(other -> topologyOf(other.name()).isPresent())
        .filter(
            other -> topologyOf(other.name()).map(TopologySpec::endsAtNodes).get().equals(ofNode))
        .anyMatch(
            other ->
                nodes.values().stream()
                    .filter(node -> has(scope.labels(), node) && has(other, node))
                    .anyMatch(
                        node ->
                            values(topologyOf(other.name()).orElseThrow(), node).equals(values)));
  }

  /** Whether pod sets have places in domains with nodes of a scope. */
  boolean areOn(List<PodSetAssignment> podSets, Scope.OfNodes scope) {
    return podSets.stream()
        .anyMatch(
            podSet ->
                podSet
                    .topology()
                    .assignment()
                    .map(found -> found.levels().equals(List.of(TopologySpec.HOSTNAME)))
                    .filter(
                        ofNode ->
                            uses(List.of(podSet)).stream()
                                .anyMatch(use -> isIn(scope, use.flavor(), use.values(), ofNode)))
                    .isPresent());
  }

  /** Whether all nodes of a flavor are of a scope. */
  boolean isOf(String flavor, Scope.OfNodes scope) {
    Flavor known = flavors.get(flavor);
    return known != null
        && scope.labels().entrySet().stream()
            .allMatch(label -> label.getValue().equals(known.nodeLabels().get(label.getKey())));
  }

  /** The nodes of a flavor. */
  List<ClusterNode> members(Flavor flavor) {
    List<ClusterNode> members = new ArrayList<>();
    for (ClusterNode node : nodes.values()) {
      boolean counts = node.usable() || flaw == TopologyFlaw.UNUSABLE_NODES_COUNT;
      boolean labelled = has(flavor, node) || flaw == TopologyFlaw.LABELS_OF_THE_FLAVOR_ARE_IGNORED;
      if (counts && labelled) {
        members.add(node);
      }
    }
    return members;
  }

  /** What pods that nobody placed use of each node. */
  Map<String, SortedMap<String, Long>> others() {
    Map<String, SortedMap<String, Long>> byNode = new HashMap<>();
    nodes.values().forEach(node -> byNode.put(node.name(), usedByOthers(node)));
    return byNode;
  }

  /** What is used of each leaf of a flavor, by path. */
  Map<String, SortedMap<String, Long>> used(String name, Collection<Use> uses) {
    Flavor flavor = flavors.get(name);
    TopologySpec spec = topologyOf(name).orElse(null);
    Map<String, SortedMap<String, Long>> used = new HashMap<>();
    if (flavor == null || spec == null) {
      return used;
    }
    for (ClusterNode node : members(flavor)) {
      String path = ReferenceTopology.path(spec.levels(), node).orElse("");
      SortedMap<String, Long> sums = used.computeIfAbsent(path, any -> new TreeMap<>());
      count(usedByOthers(node), sums);
      String host = node.labels().getOrDefault(TopologySpec.HOSTNAME, "");
      for (Use use : uses) {
        boolean mine = use.flavor().equals(name);
        if (spec.endsAtNodes()
            && use.ofNode()
            && (mine || (options.sharedHosts() && flaw != TopologyFlaw.HOSTS_ARE_NOT_SHARED))
            && use.values().equals(List.of(host))) {
          count(use.amounts(), sums);
        }
      }
    }
    for (Use use : uses) {
      if (!spec.endsAtNodes() && !use.ofNode() && use.flavor().equals(name)) {
        String path = "/" + String.join("/", use.values());
        count(use.amounts(), used.computeIfAbsent(path, any -> new TreeMap<>()));
      }
    }
    return used;
  }

  private SortedMap<String, Long> usedByOthers(ClusterNode node) {
    if (flaw == TopologyFlaw.OTHER_PODS_USE_NOTHING) {
      return new TreeMap<>();
    }
    SortedMap<String, Long> used = new TreeMap<>(others.getOrDefault(node.name(), new TreeMap<>()));
    if (flaw == TopologyFlaw.OTHER_PODS_ARE_NOT_COUNTED) {
      used.remove("pods");
    }
    return used;
  }

  private static void count(SortedMap<String, Long> amounts, SortedMap<String, Long> sums) {
    amounts.forEach((resource, amount) -> sums.merge(resource, amount, Long::sum));
  }

  /** What pod sets use of their domains. */
  List<Use> uses(List<PodSetAssignment> podSets) {
    List<Use> uses = new ArrayList<>();
    for (PodSetAssignment podSet : podSets) {
      String flavor =
          podSet.flavors().values().stream()
              .filter(this::isTopologyFlavor)
              .findFirst()
              .orElseGet(() -> podSet.flavors().values().stream().findFirst().orElse(""));
      podSet
          .topology()
          .assignment()
          .ifPresent(
              places ->
                  uses.addAll(
                      uses(
                          flavor, places, podSet.topology().perPod(), podSet.topology().member())));
    }
    return uses;
  }

  /** What pods use of their domains. */
  List<Use> uses(
      String flavor,
      TopologyAssignment places,
      SortedMap<String, Long> perPod,
      Optional<Spreading.Member> member) {
    List<Use> uses = new ArrayList<>();
    for (TopologyAssignment.Domain domain : places.domains()) {
      SortedMap<String, Long> amounts = new TreeMap<>();
      perPod.forEach((resource, one) -> amounts.put(resource, one * domain.count()));
      if (flaw != TopologyFlaw.PODS_ARE_NOT_COUNTED) {
        amounts.put("pods", (long) domain.count());
      }
      uses.add(
          new Use(
              flavor,
              places.isOfNodes(),
              domain.values(),
              amounts,
              member.map(
                  known -> new ReferenceSpreading.Part(known, labels(places, domain.values())))));
    }
    return uses;
  }

  /** What is known of a domain: the labels of its node, or those that name it. */
  private Map<String, String> labels(TopologyAssignment places, List<String> values) {
    if (places.isOfNodes()) {
      return nodes.values().stream()
          .map(ClusterNode::labels)
          .filter(labels -> values.equals(List.of(labels.getOrDefault(TopologySpec.HOSTNAME, "-"))))
          .findFirst()
          .orElse(Map.of());
    }
    Map<String, String> labels = new HashMap<>();
    for (int i = 0; i < values.size() && i < places.levels().size(); i++) {
      labels.put(places.levels().get(i), values.get(i));
    }
    return labels;
  }

  /** Whether the groups beside those of pod sets with places are the same then and now. */
  boolean areGroupsTheSame(
      RequestShape shape,
      List<PodSetAssignment> podSets,
      Collection<Use> then,
      Collection<Use> now) {
    for (int i = 0; i < podSets.size(); i++) {
      Spreading spreading = shape.podSets().get(i).topology().spreading().orElse(null);
      TopologySpec spec =
          podSets.get(i).flavors().values().stream()
              .filter(this::isTopologyFlavor)
              .findFirst()
              .flatMap(this::topologyOf)
              .orElse(null);
      if (spreading != null
          && spec != null
          && podSets.get(i).topology().assignment().isPresent()
          && !new ReferenceSpreading(spec.levels(), spreading, then)
              .found()
              .equals(new ReferenceSpreading(spec.levels(), spreading, now).found())) {
        return false;
      }
    }
    return true;
  }

  /** What some use of each domain beyond what others use of it. */
  List<Use> beyond(List<Use> uses, List<Use> held) {
    if (flaw == TopologyFlaw.SLICES_SHARE_NO_PLACES) {
      return uses;
    }
    Map<List<String>, SortedMap<String, Long>> left = new HashMap<>();
    held.forEach(
        use -> count(use.amounts(), left.computeIfAbsent(domain(use), any -> new TreeMap<>())));
    List<Use> more = new ArrayList<>();
    for (Use use : uses) {
      SortedMap<String, Long> there = left.getOrDefault(domain(use), new TreeMap<>());
      SortedMap<String, Long> amounts = new TreeMap<>();
      use.amounts()
          .forEach(
              (resource, amount) -> {
                long shared = Math.min(amount, there.getOrDefault(resource, 0L));
                amounts.put(resource, amount - shared);
                there.merge(resource, -shared, Long::sum);
              });
      amounts.values().removeIf(amount -> amount == 0);
      if (!amounts.isEmpty() || use.spread().isPresent()) {
        more.add(new Use(use.flavor(), use.ofNode(), use.values(), amounts, use.spread()));
      }
    }
    return more;
  }

  /** What names a domain: a node is the same one for all flavors, if they share hosts. */
  private List<String> domain(Use use) {
    List<String> domain = new ArrayList<>(use.values());
    domain.add(use.ofNode() && options.sharedHosts() ? "node" : "of " + use.flavor());
    return domain;
  }

  /** Whether no more is used of the domains of some uses than there was before. */
  boolean isAsFree(Collection<Use> wanted, Collection<Use> before, Collection<Use> now) {
    for (Use use : wanted) {
      Map<String, SortedMap<String, Long>> was = used(use.flavor(), before);
      Map<String, SortedMap<String, Long>> is = used(use.flavor(), now);
      String path = "/" + String.join("/", use.values());
      for (String resource : use.amounts().keySet()) {
        boolean more =
            is.getOrDefault(path, new TreeMap<>()).getOrDefault(resource, 0L)
                > was.getOrDefault(path, new TreeMap<>()).getOrDefault(resource, 0L);
        if (use.amounts().get(resource) > 0 && more) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether there is room for some uses on top of others. */
  boolean fit(Collection<Use> wanted, Collection<Use> others) {
    List<Use> all = new ArrayList<>(others);
    all.addAll(wanted);
    for (Use use : wanted) {
      if (use.amounts().isEmpty()) {
        continue;
      }
      Flavor flavor = flavors.get(use.flavor());
      TopologySpec spec = topologyOf(use.flavor()).orElse(null);
      if (flavor == null || spec == null) {
        return false;
      }
      Map<String, SortedMap<String, Long>> room = new HashMap<>();
      for (ClusterNode node : members(flavor)) {
        ReferenceTopology.path(spec.levels(), node)
            .filter(
                path ->
                    use.ofNode()
                        ? use.values().equals(List.of(last(path)))
                        : path.equals("/" + String.join("/", use.values())))
            .ifPresent(
                path ->
                    count(node.allocatable(), room.computeIfAbsent(path, any -> new TreeMap<>())));
      }
      if (room.isEmpty()) {
        return false;
      }
      Map<String, SortedMap<String, Long>> used = used(use.flavor(), all);
      for (Map.Entry<String, SortedMap<String, Long>> leaf : room.entrySet()) {
        for (String resource : use.amounts().keySet()) {
          long taken = used.getOrDefault(leaf.getKey(), new TreeMap<>()).getOrDefault(resource, 0L);
          if (use.amounts().get(resource) > 0
              && taken > leaf.getValue().getOrDefault(resource, 0L)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  private static String last(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
