package dev.sluice.core.topology;

import dev.sluice.core.model.FlavorRejection.Crowding;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.Spreading;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The groups of pods that have places, and in which domains another group may be placed beside them
 * (docs/topology.md#groups-spread-over-domains). A group counts while the usage of its places
 * counts. Confined to the scheduler thread.
 */
final class SpreadGroups {

  /** A group, or the part of it that is one pod set. */
  record Group(Spreading.Member member, TopologyAssignment assignment) {}

  /**
   * How many groups there are, and how many of them have pods in each domain of a level.
   *
   * @param groups the number of groups whose domains are known
   * @param byDomain the number of those in a domain, by the values of the levels down to its own
   */
  record Shares(int groups, Map<List<String>, Integer> byDomain) {

    Shares {
      byDomain = Map.copyOf(byDomain);
    }

    /** The number of groups in a domain. */
    int in(List<String> domain) {
      return byDomain.getOrDefault(domain, 0);
    }

    /** Whether a domain has more than the share of a rule. */
    boolean exceeds(Spreading.ShareRule rule, List<String> domain) {
      return 100L * in(domain) > (long) rule.maxShare() * groups;
    }
  }

  private static final int MOST_NAMED = 3;

  private record Identity(String owner, String group) {}

  private final Map<String, Map<Group, Integer>> byNamespace = new HashMap<>();

  /** Groups of the Workload that the current search is for, which are placed already. */
  private final List<Group> assumed = new ArrayList<>();

  /** The labels of the node with a hostname; nothing if there is none. */
  private final Function<String, Map<String, String>> hosts;

  SpreadGroups(Function<String, Map<String, String>> hosts) {
    this.hosts = hosts;
  }

  void add(Group group) {
    byNamespace
        .computeIfAbsent(group.member().namespace(), namespace -> new HashMap<>())
        .merge(group, 1, Integer::sum);
  }

  void remove(Group group) {
    byNamespace.computeIfPresent(
        group.member().namespace(),
        (namespace, groups) -> {
          groups.computeIfPresent(group, (same, times) -> times == 1 ? null : times - 1);
          return groups.isEmpty() ? null : groups;
        });
  }

  void assume(Collection<Group> groups) {
    assumed.addAll(groups);
  }

  void forget(Collection<Group> groups) {
    groups.forEach(assumed::remove);
  }

  /**
   * What share of the groups that count for rules each domain has. Cost: proportional to the
   * domains of all groups of the namespace.
   *
   * @param levels the levels down to that of the domains
   * @param empty whether the groups of other Workloads are ignored
   */
  Shares shares(Spreading spreading, List<String> levels, boolean empty) {
    Map<Identity, Set<List<String>>> domains = new HashMap<>();
    if (!empty) {
      byNamespace
          .getOrDefault(spreading.member().namespace(), Map.of())
          .keySet()
          .forEach(group -> locate(spreading, levels, group, domains));
    }
    assumed.forEach(group -> locate(spreading, levels, group, domains));
    Map<List<String>, Integer> sums = new HashMap<>();
    domains.values().forEach(each -> each.forEach(domain -> sums.merge(domain, 1, Integer::sum)));
    return new Shares(domains.size(), sums);
  }

  private void locate(
      Spreading spreading,
      List<String> levels,
      Group group,
      Map<Identity, Set<List<String>>> domains) {
    if (!spreading.counts(group.member())) {
      return;
    }
    TopologyAssignment assignment = group.assignment();
    for (TopologyAssignment.Domain each : assignment.domains()) {
      List<String> domain =
          values(
              levels,
              assignment.isOfNodes()
                  ? hosts.apply(each.values().getLast())
                  : labels(assignment.levels(), each.values()));
      if (domain.size() == levels.size()) {
        domains
            .computeIfAbsent(
                new Identity(group.member().owner(), group.member().group()),
                any -> new HashSet<>())
            .add(domain);
      }
    }
  }

  /** The values of levels; fewer if one is missing. */
  private static List<String> values(List<String> levels, Map<String, String> labels) {
    return levels.stream()
        .filter(labels::containsKey)
        .map(level -> labels.getOrDefault(level, ""))
        .toList();
  }

  private static Map<String, String> labels(List<String> levels, List<String> values) {
    Map<String, String> labels = new HashMap<>();
    for (int i = 0; i < Math.min(levels.size(), values.size()); i++) {
      labels.put(levels.get(i), values.get(i));
    }
    return labels;
  }

  /**
   * The leaves that rules close, from the strictest way to obey them to the least strict: what a
   * rule requires is always closed, and what rules prefer is opened step by step, the domains with
   * fewer groups first; a rule before another one is kept longer.
   *
   * @param empty whether the groups of other Workloads are ignored
   */
  List<boolean[]> closings(TopologyTree tree, Spreading spreading, boolean empty) {
    List<boolean[]> closings = List.of(new boolean[tree.leaves()]);
    for (Spreading.ShareRule rule : spreading.rules()) {
      List<boolean[]> ofRule = closings(tree, spreading, rule, empty);
      closings =
          closings.stream()
              .flatMap(before -> ofRule.stream().map(closing -> together(before, closing)))
              .toList();
    }
    return closings;
  }

  private List<boolean[]> closings(
      TopologyTree tree, Spreading spreading, Spreading.ShareRule rule, boolean empty) {
    List<String> levels = levelsDownTo(tree, rule);
    Shares shares = shares(spreading, levels, empty);
    if (levels.isEmpty() || shares.groups() == 0) {
      return List.of(new boolean[tree.leaves()]);
    }
    List<boolean[]> closings = new ArrayList<>();
    closings.add(closed(tree, levels.size(), domain -> shares.exceeds(rule, domain)));
    if (!rule.required()) {
      Set<Integer> counts = new TreeSet<>();
      shares
          .byDomain()
          .forEach((domain, count) -> counts.add(shares.exceeds(rule, domain) ? count : 0));
      counts.remove(0);
      counts.forEach(
          most -> closings.add(closed(tree, levels.size(), domain -> shares.in(domain) > most)));
    }
    return closings;
  }

  /** The levels of a tree down to that of a rule; empty if the tree doesn't have it. */
  static List<String> levelsDownTo(TopologyTree tree, Spreading.ShareRule rule) {
    return tree.spec().levels().subList(0, tree.spec().levels().indexOf(rule.level()) + 1);
  }

  private static boolean[] closed(TopologyTree tree, int depth, Predicate<List<String>> domains) {
    boolean[] closed = new boolean[tree.leaves()];
    for (int leaf = 0; leaf < closed.length; leaf++) {
      closed[leaf] = domains.test(tree.valuesOf(leaf).subList(0, depth));
    }
    return closed;
  }

  static boolean[] together(boolean[] one, boolean[] other) {
    boolean[] both = one.clone();
    for (int i = 0; i < other.length; i++) {
      both[i] |= other[i];
    }
    return both;
  }

  /** The required rules that close domains of a tree. */
  List<Crowding> crowding(TopologyTree tree, Spreading spreading, boolean empty) {
    List<Crowding> crowding = new ArrayList<>();
    for (Spreading.ShareRule rule : spreading.rules()) {
      List<String> levels = levelsDownTo(tree, rule);
      if (levels.isEmpty() || !rule.required()) {
        continue;
      }
      Shares shares = shares(spreading, levels, empty);
      List<String> domains =
          shares.byDomain().keySet().stream()
              .filter(domain -> shares.exceeds(rule, domain))
              .map(domain -> String.join("/", domain))
              .sorted()
              .toList();
      if (!domains.isEmpty()) {
        crowding.add(
            new Crowding(
                rule,
                shares.groups(),
                domains.subList(0, Math.min(MOST_NAMED, domains.size())),
                domains.size()));
      }
    }
    return crowding;
  }

  /** Places, and what their search found of the groups besides. */
  record Found(Spreading spreading, List<String> levels, Shares shares) {}

  /** What the rules of a group depend on, without the Workload's own groups. */
  List<Found> found(TopologyTree tree, Spreading spreading) {
    List<Found> found = new ArrayList<>();
    for (Spreading.ShareRule rule : spreading.rules()) {
      List<String> levels = levelsDownTo(tree, rule);
      if (!levels.isEmpty()) {
        found.add(new Found(spreading, levels, shares(spreading, levels, false)));
      }
    }
    return found;
  }

  /** Whether the groups are those that a search has found. */
  boolean areStill(Found found) {
    return shares(found.spreading(), found.levels(), false).equals(found.shares());
  }
}
