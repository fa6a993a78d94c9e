package dev.sluice.reference;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
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
import org.jspecify.annotations.Nullable;

/**
 * Places pods by the text of docs/scheduling-semantics.md#topology, with a tree of objects that is
 * built anew for each question.
 */
final class ReferenceTopology {

  /** Pods with their places: number of pods by the path of the leaf. */
  record Places(SortedMap<String, Integer> pods, @Nullable String leader) {}

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

    Domain(String path) {
      this.path = path;
    }
  }

  /** So many units in a domain. */
  private record Chosen(Domain domain, long units, boolean leader) {}

  private final List<String> levels;
  private final boolean mixed;
  private final List<ClusterNode> nodes;
  private final Map<String, SortedMap<String, Long>> used;
  private final List<Toleration> tolerations;
  private final Map<String, Integer> sizes = new LinkedHashMap<>();
  private TopologyRequest request = TopologyRequest.NONE;
  private Pods pods = new Pods(0, new TreeMap<>(), NodeConstraints.ANYWHERE);
  private @Nullable Pods leader;

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
    this.levels = levels;
    this.mixed = mixed;
    this.nodes = nodes;
    this.used = used;
    this.tolerations = tolerations;
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
      sizes.put(slice.level(), slice.size());
    }
    if (workers.count() % sliceSize() != 0) {
      return Optional.empty();
    }
    List<Domain> roots = tree();
    roots.forEach(root -> count(root, 0));
    int level = firstLevel();
    long needed = workers.count() / sliceSize();
    while (true) {
      List<Domain> here = at(roots, level);
      Chosen one = smallestSufficient(here, needed, leader != null, level);
      if (one != null) {
        return Optional.of(down(level, List.of(one), needed));
      }
      if (asked.mode() == Mode.REQUIRED) {
        return Optional.empty();
      }
      if (asked.mode() == Mode.PREFERRED && level > 0) {
        level--;
        continue;
      }
      List<Chosen> many = minimal(here, needed, leader != null, level);
      return many == null ? Optional.empty() : Optional.of(down(level, many, needed));
    }
  }

  private int firstLevel() {
    return switch (request.mode()) {
      case REQUIRED, PREFERRED -> levels.indexOf(request.level());
      case SLICES -> 0;
      case NONE, UNCONSTRAINED -> levels.size() - 1;
    };
  }

  private int sliceSize() {
    return request.slices().isEmpty() ? 1 : request.slices().getFirst().size();
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
      if (!node.usable() || path(levels, node).isEmpty()) {
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
    if (size != null && level > sliceLevel()) {
      domain.pods = domain.pods / size * size;
      domain.podsWithLeader = domain.podsWithLeader / size * size;
    }
    if (level == sliceLevel()) {
      domain.slices = domain.pods / sliceSize();
      domain.slicesWithLeader = domain.podsWithLeader / sliceSize();
    }
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
        if (!mayRun(each.constraints(), node, tolerations)) {
          return 0;
        }
      }
    }
    long fits = Math.max(0, free.getOrDefault("pods", 0L));
    for (Map.Entry<String, Long> want : each.perPod().entrySet()) {
      if (want.getValue() > 0) {
        long left = Math.max(0, free.getOrDefault(want.getKey(), 0L));
        fits = Math.min(fits, left / want.getValue());
      }
    }
    return fits;
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
            || constraints.affinityTerms().stream().anyMatch(term -> allMatch(term, node.labels()));
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

  private boolean unconstrained() {
    return request.mode() != Mode.REQUIRED && request.mode() != Mode.PREFERRED;
  }

  /** Largest first, or smallest first; among equals that with fewer pods, then by values. */
  private Comparator<Domain> order(boolean withLeader, int level) {
    Comparator<Domain> bySize = Comparator.comparing(d -> units(d, withLeader, level));
    if (!(unconstrained() && mixed)) {
      bySize = bySize.reversed();
    }
    return bySize
        .thenComparing(d -> withLeader ? d.podsWithLeader : d.pods)
        .thenComparing(d -> d.path);
  }

  private @Nullable Chosen smallestSufficient(
      List<Domain> among, long needed, boolean withLeader, int level) {
    return among.stream()
        .filter(d -> !withLeader || d.leaders > 0)
        .filter(d -> units(d, withLeader, level) >= needed)
        .min(
            Comparator.<Domain, Long>comparing(d -> units(d, withLeader, level))
                .thenComparing(d -> withLeader ? d.podsWithLeader : d.pods)
                .thenComparing(d -> d.path))
        .map(d -> new Chosen(d, needed, withLeader))
        .orElse(null);
  }

  /** Takes few domains; the leader's first, which is the first with which all others suffice. */
  private @Nullable List<Chosen> minimal(
      List<Domain> among, long needed, boolean withLeader, int level) {
    Chosen one = smallestSufficient(among, needed, withLeader, level);
    if (one != null) {
      return List.of(one);
    }
    if (!withLeader) {
      return fill(among, needed, level);
    }
    for (Domain host :
        among.stream().filter(d -> d.leaders > 0).sorted(order(true, level)).toList()) {
      List<Domain> others = new ArrayList<>(among);
      others.remove(host);
      long units = units(host, true, level);
      List<Chosen> rest = fill(others, needed - units, level);
      if (rest != null) {
        List<Chosen> all = new ArrayList<>(List.of(new Chosen(host, units, true)));
        all.addAll(rest);
        return all;
      }
    }
    return null;
  }

  private @Nullable List<Chosen> fill(List<Domain> among, long needed, int level) {
    List<Domain> left = new ArrayList<>(among.stream().sorted(order(false, level)).toList());
    List<Chosen> chosen = new ArrayList<>();
    long rest = needed;
    while (rest > 0) {
      Chosen last = smallestSufficient(left, rest, false, level);
      if (last != null) {
        chosen.add(last);
        return chosen;
      }
      if (left.isEmpty()) {
        return null;
      }
      Domain next = left.removeFirst();
      long units = units(next, false, level);
      if (units > 0) {
        chosen.add(new Chosen(next, units, false));
        rest -= units;
      }
    }
    return chosen;
  }

  private Places down(int from, List<Chosen> start, long needed) {
    List<Chosen> here = start;
    for (int level = from; level < levels.size() - 1; level++) {
      List<Chosen> below = new ArrayList<>();
      if (level < sliceLevel()) {
        List<Domain> pooled = here.stream().flatMap(each -> each.domain.children.stream()).toList();
        below.addAll(orFail(minimal(pooled, needed, leader != null, level + 1)));
      } else {
        for (Chosen each : here) {
          long count = each.units * unit(level) / unit(level + 1);
          below.addAll(orFail(minimal(each.domain.children, count, each.leader, level + 1)));
        }
      }
      here = below;
    }
    SortedMap<String, Integer> result = new TreeMap<>();
    String place = null;
    for (Chosen each : here) {
      if (each.units > 0) {
        result.merge(each.domain.path, (int) (each.units * unit(levels.size() - 1)), Integer::sum);
      }
      place = each.leader ? each.domain.path : place;
    }
    return new Places(result, place);
  }

  private static <T> T orFail(@Nullable T value) {
    if (value == null) {
      throw new AssertionError("counts of children contradict their parent's");
    }
    return value;
  }
}
