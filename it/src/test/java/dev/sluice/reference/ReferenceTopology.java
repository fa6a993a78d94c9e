package dev.sluice.reference;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Places pods by the text of docs/scheduling-semantics.md#topology, with a tree of objects that is
 * built anew for each question.
 */
final class ReferenceTopology {

  /**
   * Pods with their places: number of pods by the path of the leaf.
   *
   * @param last the path of the domain with the partial slice, whose leaves come last; empty
   *     without
   */
  record Places(SortedMap<String, Integer> pods, @Nullable String leader, String last) {

    /** The leaves in the order of the assignment. */
    List<String> inOrder() {
      List<String> paths = new ArrayList<>(pods.keySet());
      paths.sort(
          Comparator.comparing(path -> !last.isEmpty() && (path + "/").startsWith(last + "/")));
      return paths;
    }
  }

  /** Equal pods to place. */
  record Pods(int count, SortedMap<String, Long> perPod, NodeConstraints constraints) {}

  /** A domain and what fits into it. */
  static final class Domain {
    final String path;
    final List<Domain> children = new ArrayList<>();
    final List<ClusterNode> nodes = new ArrayList<>();
    long pods;
    long slices;
    long podsWithLeader;
    long slicesWithLeader;
    int leaders;

    /** Whether the partial slice fits beside all whole slices. */
    boolean spare;

    /** The weight of the preferred node affinity that its best leaf with room meets. */
    long weight;

    Domain(String path) {
      this.path = path;
    }
  }

  /** So many units in a domain. */
  private record Chosen(Domain domain, long units, boolean leader, boolean partial) {}

  private final List<String> levels;
  private final boolean mixed;
  private final boolean balanced;
  private final TopologyFlaw flaw;
  private final List<ClusterNode> nodes;
  private final Map<String, SortedMap<String, Long>> used;
  private final List<Toleration> tolerations;
  private final Map<String, Integer> sizes = new LinkedHashMap<>();
  private boolean prefersNodes;

  /** What pods that nobody placed use of each node; nothing if nodes aren't judged one by one. */
  private Optional<Map<String, SortedMap<String, Long>>> usedByOthers = Optional.empty();

  private TopologyRequest request = TopologyRequest.NONE;
  private Pods pods = new Pods(0, new TreeMap<>(), NodeConstraints.ANYWHERE);
  private @Nullable Pods leader;

  /** The pods of the last slice, if it is smaller than the others. */
  private int partial;

  private String last = "";

  /**
   * @param used what is used of each leaf, by path
   * @param tolerations what the flavor tolerates
   */
  ReferenceTopology(
      List<String> levels,
      boolean mixed,
      List<ClusterNode> nodes,
      Map<String, SortedMap<String, Long>> used,
      List<Toleration> tolerations) {
    this(levels, mixed, false, nodes, used, tolerations, TopologyFlaw.NONE);
  }

  /**
   * @param balanced whether pods that prefer a level are spread evenly over its domains
   * @param used what is used of each leaf, by path
   * @param tolerations what the flavor tolerates
   * @param flaw a rule that is broken
   */
  ReferenceTopology(
      List<String> levels,
      boolean mixed,
      boolean balanced,
      List<ClusterNode> nodes,
      Map<String, SortedMap<String, Long>> used,
      List<Toleration> tolerations,
      TopologyFlaw flaw) {
    this.flaw = flaw;
    this.balanced = balanced;
    this.levels = levels;
    this.mixed = mixed;
    this.nodes = nodes;
    this.used = used;
    this.tolerations = tolerations;
  }

  /** Sets whether domains of preferred nodes come first. */
  ReferenceTopology preferringNodes(boolean prefers) {
    prefersNodes = prefers;
    return this;
  }

  /**
   * Judges the nodes of a leaf that is no node one by one.
   *
   * @param byNode what pods that nobody placed use of each node
   */
  ReferenceTopology judgingNodes(Map<String, SortedMap<String, Long>> byNode) {
    if (!levels.getLast().equals("kubernetes.io/hostname")) {
      usedByOthers = Optional.of(byNode);
    }
    return this;
  }

  /** Whether some node is closed to pods where nodes are judged one by one. */
  boolean isRestrictedFor(Pods each) {
    return usedByOthers.isPresent()
        && nodes.stream()
            .filter(ClusterNode::usable)
            .filter(node -> path(levels, node).isPresent())
            .anyMatch(node -> !mayRun(each.constraints(), node, tolerations));
  }

  /** The path of a node's leaf; empty if it has no label for a level. */
  static Optional<String> path(List<String> levels, ClusterNode node) {
    StringBuilder path = new StringBuilder();
    for (String level : levels) {
      String value = node.labels().get(level);
      if (value == null) {
        return Optional.empty();
      }
      path.append('/').append(value);
    }
    return Optional.of(path.toString());
  }

  Optional<Places> place(TopologyRequest asked, Pods workers, @Nullable Pods first) {
    request = asked;
    pods = workers;
    leader = first;
    sizes.clear();
    for (TopologyRequest.Slice slice : asked.slices()) {
      sizes.put(
          slice.level(), flaw == TopologyFlaw.SLICES_ARE_PODS ? Integer.valueOf(1) : slice.size());
    }
    partial = workers.count() % sliceSize();
    last = "";
    if (partial > 0 && asked.slices().size() > 1) {
      return Optional.empty();
    }
    List<Domain> roots = tree();
    roots.forEach(root -> count(root, 0));
    int level = firstLevel();
    long needed = workers.count() / sliceSize() + (partial > 0 ? 1 : 0);
    if (balanced && flaw != TopologyFlaw.NOT_BALANCED && asked.mode() == Mode.PREFERRED) {
      boolean inOne =
          smallestSufficient(at(roots, level), needed, leader != null, level, spared()) != null;
      int spread = inOne ? level + 1 : level;
      List<Chosen> even = spread > sliceLevel() ? List.of() : even(roots, level, inOne, needed);
      if (!even.isEmpty()) {
        return Optional.of(down(spread, even, needed, true));
      }
    }
    while (true) {
      List<Domain> here = at(roots, level);
      Chosen one = smallestSufficient(here, needed, leader != null, level, spared());
      if (one != null) {
        return Optional.of(down(level, List.of(withPartial(one)), needed, false));
      }
      boolean preferred =
          asked.mode() == Mode.PREFERRED
              || (asked.mode() == Mode.REQUIRED && flaw == TopologyFlaw.REQUIRED_IS_PREFERRED);
      if (asked.mode() == Mode.REQUIRED && !preferred) {
        return Optional.empty();
      }
      if (preferred && flaw == TopologyFlaw.PREFERRED_IS_REQUIRED) {
        return Optional.empty();
      }
      if (preferred && level > 0 && flaw != TopologyFlaw.PREFERRED_STAYS) {
        level--;
        continue;
      }
      List<Chosen> many = minimal(here, needed, leader != null, level, partial > 0);
      return many == null ? Optional.empty() : Optional.of(down(level, many, needed, false));
    }
  }

  /** Whether there is a partial slice that needs room for its own pods only. */
  private boolean spared() {
    return partial > 0 && leader == null;
  }

  private Chosen withPartial(Chosen chosen) {
    return new Chosen(chosen.domain, chosen.units, chosen.leader, partial > 0);
  }

  private int firstLevel() {
    return switch (request.mode()) {
      case REQUIRED, PREFERRED -> levels.indexOf(request.level());
      case SLICES -> 0;
      case NONE, UNCONSTRAINED -> levels.size() - 1;
    };
  }

  private int sliceSize() {
    return request.slices().isEmpty() || flaw == TopologyFlaw.SLICES_ARE_PODS
        ? 1
        : request.slices().getFirst().size();
  }

  private int sliceLevel() {
    return request.slices().isEmpty()
        ? levels.size() - 1
        : levels.indexOf(request.slices().getFirst().level());
  }

  /** What is placed together at a level: a slice, or what the next layer below asks for. */
  private int unit(int level) {
    for (int i = level; i < levels.size(); i++) {
      Integer size = sizes.get(levels.get(i));
      if (size != null) {
        return size;
      }
    }
    return 1;
  }

  private List<Domain> tree() {
    TreeMap<String, Domain> byPath = new TreeMap<>();
    List<Domain> roots = new ArrayList<>();
    for (ClusterNode node : nodes) {
      boolean counts = node.usable() || flaw == TopologyFlaw.UNUSABLE_NODES_COUNT;
      if (!counts || path(levels, node).isEmpty()) {
        continue;
      }
      Domain parent = null;
      String path = "";
      for (String level : levels) {
        path = path + "/" + node.labels().get(level);
        Domain domain = byPath.get(path);
        if (domain == null) {
          domain = new Domain(path);
          byPath.put(path, domain);
          (parent == null ? roots : parent.children).add(domain);
        }
        parent = domain;
      }
      if (parent != null) {
        parent.nodes.add(node);
      }
    }
    return roots;
  }

  private static List<Domain> at(List<Domain> roots, int level) {
    List<Domain> here = roots;
    for (int i = 0; i < level; i++) {
      here = here.stream().flatMap(domain -> domain.children.stream()).toList();
    }
    return here;
  }

  private void count(Domain domain, int level) {
    if (level == levels.size() - 1) {
      TreeMap<String, Long> free = free(domain);
      domain.pods = fits(pods, domain, free);
      Pods first = leader;
      domain.leaders = first != null && fits(first, domain, free) > 0 ? 1 : 0;
      if (first != null && domain.leaders > 0) {
        first.perPod().forEach((resource, each) -> free.merge(resource, -each, Long::sum));
        free.merge("pods", -1L, Long::sum);
      }
      domain.podsWithLeader = fits(pods, domain, free);
      if (usedByOthers.isPresent()) {
        domain.pods = fitsInNodes(pods, domain, null);
        domain.leaders = first != null && fitsInNodes(first, domain, null) > 0 ? 1 : 0;
        domain.podsWithLeader = domain.leaders > 0 ? fitsInNodes(pods, domain, first) : domain.pods;
      }
    } else {
      long podLoss = Long.MAX_VALUE;
      long sliceLoss = Long.MAX_VALUE;
      for (Domain child : domain.children) {
        count(child, level + 1);
        domain.pods += child.pods;
        domain.slices += child.slices;
        if (child.leaders > 0) {
          domain.leaders = 1;
          podLoss = Math.min(podLoss, child.pods - child.podsWithLeader);
          sliceLoss = Math.min(sliceLoss, child.slices - child.slicesWithLeader);
        }
      }
      domain.podsWithLeader = domain.pods - (domain.leaders > 0 ? podLoss : 0);
      domain.slicesWithLeader = domain.slices - (domain.leaders > 0 ? sliceLoss : 0);
    }
    Integer size = sizes.get(levels.get(level));
    if (size != null && level > sliceLevel() && flaw != TopologyFlaw.LAYERS_DO_NOT_ROUND) {
      domain.pods = domain.pods / size * size;
      domain.podsWithLeader = domain.podsWithLeader / size * size;
    }
    if (level == sliceLevel()) {
      domain.slices = domain.pods / sliceSize();
      domain.slicesWithLeader = domain.podsWithLeader / sliceSize();
      domain.spare = spared() && domain.pods % sliceSize() >= partial;
    } else if (level < sliceLevel()) {
      domain.spare = domain.children.stream().anyMatch(child -> child.spare);
    }
    if (prefersNodes && levels.getLast().equals("kubernetes.io/hostname")) {
      domain.weight =
          domain.children.isEmpty()
              ? domain.pods > 0 ? weight(domain.nodes) : 0
              : domain.children.stream().mapToLong(child -> child.weight).max().orElse(0);
    }
  }

  /** The weights of the preferences that all nodes of a leaf meet. */
  private long weight(List<ClusterNode> leaf) {
    return pods.constraints().preferred().stream()
        .filter(
            each -> leaf.stream().allMatch(node -> allMatch(each.requirements(), node.labels())))
        .mapToLong(PreferredNodes::weight)
        .sum();
  }

  private TreeMap<String, Long> free(Domain leaf) {
    TreeMap<String, Long> free = new TreeMap<>();
    for (ClusterNode node : leaf.nodes) {
      node.allocatable().forEach((resource, amount) -> free.merge(resource, amount, Long::sum));
    }
    used.getOrDefault(leaf.path, new TreeMap<>())
        .forEach((resource, amount) -> free.merge(resource, -amount, Long::sum));
    return free;
  }

  private long fits(Pods each, Domain leaf, Map<String, Long> free) {
    if (levels.getLast().equals("kubernetes.io/hostname")) {
      for (ClusterNode node : leaf.nodes) {
        if (!mayRun(broken(each.constraints()), node, broken(node))) {
          return 0;
        }
      }
    }
    return fits(each, free);
  }

  private static long fits(Pods each, Map<String, Long> free) {
    long fits = Math.max(0, free.getOrDefault("pods", 0L));
    for (Map.Entry<String, Long> want : each.perPod().entrySet()) {
      if (want.getValue() > 0) {
        long left = Math.max(0, free.getOrDefault(want.getKey(), 0L));
        fits = Math.min(fits, left / want.getValue());
      }
    }
    return fits;
  }

  /** The pods that fit into the nodes of a leaf that are open to them, beside another pod. */
  private long fitsInNodes(Pods each, Domain leaf, @Nullable Pods beside) {
    TreeMap<String, Long> left = free(leaf);
    for (ClusterNode node : leaf.nodes) {
      if (!mayRun(broken(each.constraints()), node, broken(node))) {
        unused(node)
            .forEach((resource, amount) -> left.merge(resource, -Math.max(0, amount), Long::sum));
      }
    }
    List<ClusterNode> hosts =
        beside == null
            ? List.of()
            : leaf.nodes.stream()
                .filter(node -> mayRun(broken(beside.constraints()), node, broken(node)))
                .filter(node -> fits(beside, unused(node)) > 0)
                .toList();
    boolean apart =
        hosts.stream().anyMatch(host -> !mayRun(broken(each.constraints()), host, broken(host)));
    if (beside != null && !apart) {
      take(beside, left);
    }
    long best = beside == null ? sum(each, leaf, null, null) : 0;
    for (ClusterNode host : hosts) {
      best = Math.max(best, sum(each, leaf, host, beside));
    }
    return Math.min(best, fits(each, left));
  }

  private long sum(Pods each, Domain leaf, @Nullable ClusterNode host, @Nullable Pods beside) {
    long sum = 0;
    for (ClusterNode node : leaf.nodes) {
      if (mayRun(broken(each.constraints()), node, broken(node))) {
        TreeMap<String, Long> room = unused(node);
        if (node == host && beside != null) {
          take(beside, room);
        }
        sum += fits(each, room);
      }
    }
    return sum;
  }

  private static void take(Pods one, TreeMap<String, Long> room) {
    one.perPod().forEach((resource, each) -> room.merge(resource, -each, Long::sum));
    room.merge("pods", -1L, Long::sum);
  }

  /** What Workloads can use of a node. */
  private TreeMap<String, Long> unused(ClusterNode node) {
    TreeMap<String, Long> unused = new TreeMap<>(node.allocatable());
    usedByOthers
        .orElseThrow()
        .getOrDefault(node.name(), new TreeMap<>())
        .forEach((resource, amount) -> unused.merge(resource, -amount, Long::sum));
    return unused;
  }

  private NodeConstraints broken(NodeConstraints constraints) {
    return new NodeConstraints(
        flaw == TopologyFlaw.SELECTORS_ARE_IGNORED ? Map.of() : constraints.nodeSelector(),
        flaw == TopologyFlaw.AFFINITY_IS_IGNORED ? List.of() : constraints.affinityTerms(),
        flaw == TopologyFlaw.AFFINITY_IS_IGNORED ? List.of() : constraints.affinityFields(),
        constraints.tolerations(),
        List.of());
  }

  private List<Toleration> broken(ClusterNode node) {
    return switch (flaw) {
      case TAINTS_ARE_IGNORED ->
          node.taints().stream().map(t -> new Toleration(t.key(), "Exists", "", "")).toList();
      case TOLERATIONS_OF_THE_FLAVOR_ARE_IGNORED -> List.of();
      default -> tolerations;
    };
  }

  /** Whether pods may run on a node, with what their flavor tolerates. */
  static boolean mayRun(
      NodeConstraints constraints, ClusterNode node, List<Toleration> tolerations) {
    for (Taint taint : node.taints()) {
      boolean hard = taint.effect().equals("NoSchedule") || taint.effect().equals("NoExecute");
      boolean tolerated =
          constraints.tolerations().stream().anyMatch(each -> each.tolerates(taint))
              || tolerations.stream().anyMatch(each -> each.tolerates(taint));
      if (hard && !tolerated) {
        return false;
      }
    }
    boolean selected =
        constraints.nodeSelector().entrySet().stream()
            .allMatch(want -> want.getValue().equals(node.labels().get(want.getKey())));
    boolean near =
        constraints.affinityTerms().isEmpty()
            || IntStream.range(0, constraints.affinityTerms().size())
                .anyMatch(
                    i ->
                        allMatch(constraints.affinityTerms().get(i), node.labels())
                            && allMatch(
                                constraints.fieldsOf(i), Map.of("metadata.name", node.name())));
    return selected && near;
  }

  private static boolean allMatch(List<LabelRequirement> term, Map<String, String> labels) {
    return term.stream().allMatch(each -> each.matches(labels));
  }

  private long units(Domain domain, boolean withLeader, int level) {
    if (level <= sliceLevel()) {
      return withLeader ? domain.slicesWithLeader : domain.slices;
    }
    return (withLeader ? domain.podsWithLeader : domain.pods) / unit(level);
  }

  /** The units that fit, a partial slice beside whole ones included. */
  private long room(Domain domain, boolean withLeader, int level, boolean withPartial) {
    return units(domain, withLeader, level) + (withPartial && domain.spare ? 1 : 0);
  }

  private boolean unconstrained() {
    return request.mode() != Mode.REQUIRED && request.mode() != Mode.PREFERRED;
  }

  /** Largest first, or smallest first; among equals that with fewer pods, then by values. */
  private Comparator<Domain> order(boolean withLeader, int level, boolean withPartial) {
    Comparator<Domain> bySize = Comparator.comparing(d -> room(d, withLeader, level, withPartial));
    if (!(unconstrained() && mixed) || flaw == TopologyFlaw.LARGEST_FIRST_FOR_ALL) {
      bySize = bySize.reversed();
    }
    return byWeight()
        .thenComparing(bySize)
        .thenComparing(d -> withLeader ? d.podsWithLeader : d.pods)
        .thenComparing(d -> d.path);
  }

  private static Comparator<Domain> byWeight() {
    return Comparator.<Domain, Long>comparing(d -> d.weight).reversed();
  }

  private Comparator<Domain> smallest(boolean withLeader, int level, boolean withPartial) {
    return byWeight()
        .thenComparing(d -> room(d, withLeader, level, withPartial))
        .thenComparing(d -> withLeader ? d.podsWithLeader : d.pods)
        .thenComparing(d -> d.path);
  }

  private boolean suffices(
      Domain domain, long needed, boolean withLeader, int level, boolean withPartial) {
    return (!withLeader || domain.leaders > 0)
        && room(domain, withLeader, level, withPartial) >= needed;
  }

  private @Nullable Chosen smallestSufficient(
      List<Domain> among, long needed, boolean withLeader, int level, boolean withPartial) {
    return among.stream()
        .filter(d -> suffices(d, needed, withLeader, level, withPartial))
        .min(
            flaw == TopologyFlaw.FIRST_SUFFICIENT
                ? Comparator.comparing(d -> d.path)
                : smallest(withLeader, level, withPartial))
        .map(d -> new Chosen(d, needed, withLeader, withPartial))
        .orElse(null);
  }

  /**
   * Takes few domains; the leader's first, which is the first with which all others suffice.
   *
   * @param withPartial whether one of the units is the partial slice
   */
  private @Nullable List<Chosen> minimal(
      List<Domain> among, long needed, boolean withLeader, int level, boolean withPartial) {
    boolean small = withPartial && leader == null;
    Chosen one = smallestSufficient(among, needed, withLeader, level, small);
    if (one != null) {
      return List.of(new Chosen(one.domain, one.units, one.leader, withPartial));
    }
    if (!withLeader) {
      return fill(among, needed, level, withPartial);
    }
    for (Domain host :
        among.stream().filter(d -> d.leaders > 0).sorted(order(true, level, false)).toList()) {
      List<Domain> others = new ArrayList<>(among);
      others.remove(host);
      long units = units(host, true, level);
      List<Chosen> rest = fill(others, needed - units, level, withPartial);
      if (rest != null) {
        List<Chosen> all = new ArrayList<>(List.of(new Chosen(host, units, true, false)));
        all.addAll(rest);
        return all;
      }
    }
    return null;
  }

  private @Nullable List<Chosen> fill(
      List<Domain> among, long needed, int level, boolean withPartial) {
    boolean small = withPartial && leader == null;
    boolean pending = small;
    List<Domain> left = new ArrayList<>(among.stream().sorted(order(false, level, small)).toList());
    List<Chosen> chosen = new ArrayList<>();
    long rest = needed;
    while (rest > 0) {
      Chosen end = smallestSufficient(left, rest, false, level, pending);
      if (flaw == TopologyFlaw.LAST_IS_NOT_THE_SMALLEST
          && !left.isEmpty()
          && room(left.getFirst(), false, level, pending) >= rest) {
        end = new Chosen(left.getFirst(), rest, false, pending);
      }
      if (end != null) {
        boolean has = small ? pending : withPartial;
        chosen.add(new Chosen(end.domain, end.units, false, has));
        return chosen;
      }
      if (left.isEmpty()) {
        return null;
      }
      Domain next = left.removeFirst();
      boolean takes = pending && next.spare;
      long units = room(next, false, level, takes);
      if (units > 0) {
        chosen.add(new Chosen(next, units, false, takes));
        rest -= units;
        pending &= !takes;
      }
    }
    return chosen;
  }

  /** The first domains in order; with a leader, its domain first. */
  private @Nullable List<Chosen> first(List<Domain> family, long needed, int level) {
    Chosen one = smallestSufficient(family, needed, leader != null, level, false);
    if (one != null) {
      return List.of(one);
    }
    List<Domain> hosts = new ArrayList<>();
    if (leader != null) {
      hosts.addAll(
          family.stream().filter(d -> d.leaders > 0).sorted(order(true, level, false)).toList());
    }
    for (int i = 0; i < (leader == null ? 1 : hosts.size()); i++) {
      List<Chosen> chosen = new ArrayList<>();
      List<Domain> others = new ArrayList<>(family);
      long rest = needed;
      if (leader != null) {
        others.remove(hosts.get(i));
        rest -= units(hosts.get(i), true, level);
        chosen.add(new Chosen(hosts.get(i), units(hosts.get(i), true, level), true, false));
      }
      for (Domain next : others.stream().sorted(order(false, level, false)).toList()) {
        if (rest > 0 && units(next, false, level) > 0) {
          rest -= units(next, false, level);
          chosen.add(new Chosen(next, units(next, false, level), false, false));
        }
      }
      if (rest <= 0) {
        return chosen;
      }
    }
    return null;
  }

  /**
   * Siblings of which the one with the fewest slices has most, then as few of them as possible:
   * each gets as much as all can have, and the first get the rest. Empty if there are none.
   *
   * @param inOne whether a domain of the level has room for everything: its children are siblings
   */
  private List<Chosen> even(List<Domain> roots, int level, boolean inOne, long needed) {
    int spread = inOne ? level + 1 : level;
    List<List<Domain>> families =
        inOne
            ? at(roots, level).stream()
                .filter(d -> suffices(d, needed, leader != null, level, spared()))
                .sorted(smallest(leader != null, level, spared()))
                .map(parent -> parent.children)
                .toList()
            : level == 0
                ? List.of(roots)
                : at(roots, level - 1).stream()
                    .sorted(Comparator.comparing(parent -> parent.path))
                    .map(parent -> parent.children)
                    .toList();
    List<Chosen> best = List.of();
    long most = 0;
    long fewest = 0;
    for (List<Domain> family : families) {
      List<Chosen> chosen = first(family, needed, spread);
      long sharing =
          chosen == null
              ? 0
              : chosen.stream().filter(each -> units(each.domain, each.leader, spread) > 0).count();
      if (chosen == null || sharing == 0) {
        continue;
      }
      long least =
          chosen.stream()
              .mapToLong(each -> units(each.domain, each.leader, spread))
              .filter(units -> units > 0)
              .min()
              .orElseThrow();
      long threshold = Math.min(needed / sharing, least);
      if (threshold > most || (threshold == most && sharing < fewest)) {
        most = threshold;
        fewest = sharing;
        best = chosen;
      }
    }
    List<Chosen> result = new ArrayList<>();
    long rest = needed - most * fewest;
    for (Chosen each : flaw == TopologyFlaw.EXTRAS_GO_LAST ? best.reversed() : best) {
      long room = units(each.domain, each.leader, spread);
      long extra = room == 0 ? 0 : Math.min(rest, room - most);
      rest -= extra;
      result.add(new Chosen(each.domain, room == 0 ? 0 : most + extra, each.leader, false));
    }
    for (int i = result.size() - 1; partial > 0 && i >= 0; i--) {
      Chosen each = result.get(i);
      if (each.units > 0) {
        result.set(i, new Chosen(each.domain, each.units, each.leader, true));
        break;
      }
    }
    return result;
  }

  private Places down(int from, List<Chosen> start, long needed, boolean apart) {
    List<Chosen> here = start;
    for (int level = from; level < levels.size() - 1; level++) {
      List<Chosen> below = new ArrayList<>();
      if (level < sliceLevel() && !apart && flaw != TopologyFlaw.NO_POOLING) {
        List<Domain> pooled = here.stream().flatMap(each -> each.domain.children.stream()).toList();
        below.addAll(orFail(minimal(pooled, needed, leader != null, level + 1, partial > 0)));
      } else {
        for (Chosen each : here) {
          long count = each.units * unit(level) / unit(level + 1) - lacking(each, level);
          boolean keeps = each.partial && level < sliceLevel();
          below.addAll(orFail(minimal(each.domain.children, count, each.leader, level + 1, keeps)));
        }
      }
      here = below;
    }
    SortedMap<String, Integer> result = new TreeMap<>();
    String place = null;
    for (Chosen each : here) {
      long count = each.units * unit(levels.size() - 1) - lacking(each, levels.size() - 1);
      if (each.units > 0) {
        result.merge(each.domain.path, (int) count, Integer::sum);
      }
      place = each.leader ? each.domain.path : place;
    }
    return new Places(result, place, last);
  }

  /** The pods that the partial slice has less than a whole one, where slices are cut. */
  private int lacking(Chosen chosen, int level) {
    if (!chosen.partial || level != sliceLevel()) {
      return 0;
    }
    last = chosen.domain.path;
    return sliceSize() - partial;
  }

  private static <T> T orFail(@Nullable T value) {
    if (value == null) {
      throw new AssertionError("counts of children contradict their parent's");
    }
    return value;
  }
}
